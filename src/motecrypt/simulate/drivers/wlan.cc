// SPDX-License-Identifier: GPL-2.0-only
// Moves one file over simulated Wi-Fi with ns-3 and prints what it took, as one JSON object.
// It does not depend on ciphers: a security protocol is a number of bytes added to each data frame.
// One file, and only the headers it needs: ns-3's module headers cost a minute to compile.

#include "ns3/basic-energy-source-helper.h"
#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/device-energy-model-container.h"
#include "ns3/double.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/node-container.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/pointer.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/queue-size.h"
#include "ns3/qos-txop.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-header.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-psdu.h"
#include "ns3/wifi-radio-energy-model-helper.h"
#include "ns3/wifi-radio-energy-model.h"
#include "ns3/yans-wifi-helper.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>

// Energy models moved into a namespace of their own after ns-3.37.
namespace ns3::energy {
}

using namespace ns3;
using namespace ns3::energy;

namespace {

constexpr double START_SECONDS = 1.0; // by then both stations have joined the access point
constexpr uint32_t UDP_PAYLOAD_BYTES = 1472; // fills an IP packet of 1500 bytes
constexpr uint32_t TCP_SEGMENT_BYTES = 1448; // the same, with TCP's 32 bytes (timestamps on)
constexpr uint16_t PORT = 5001;

struct Request {
    std::string mode = "adhoc";
    std::string phy = "b";
    std::string protocol = "tcp";
    uint64_t bytes = 5000000;
    uint32_t frame_bytes = 0;  // added by the security protocol to each data frame
    uint32_t seed = 1;
    double distance_m = 4;     // sender to receiver; an access point is in the middle
    double walls_db = 0;
    bool fading = false;       // Nakagami m = 1, that is Rayleigh: no line of sight
    double exponent = 3;       // of the log-distance path loss
    double tx_dbm = 16;
    double limit_seconds = 600; // simulated; a link that is too poor ends here
    double volts = 4.74;
    double tx_ma = 284;
    double rx_ma = 190;
    double idle_ma = 156;
};

struct Tally {
    uint64_t delivered = 0;
    double last_seconds = 0;
    uint64_t data_frames = 0;
    uint64_t data_frame_bytes = 0; // as sent on the air, with MAC header and check sequence
    uint64_t acknowledgements = 0;
    uint64_t other_frames = 0;
    double joule[2] = {0, 0}; // sender and receiver, up to the last byte
    std::map<uint64_t, uint64_t> rates; // data frames by rate in kbit/s
};

Tally tally;
DeviceEnergyModelContainer radios;
double joule_before[2] = {0, 0};

// The protected frame's extra bytes. ns-3 has no WLAN security; it hands each packet through this
// trace on its way to the queue, so the bytes are put behind it here. An access point forwards the
// packet with them, and IP drops what follows its own length, as it does with Ethernet padding.
void AddSecurityBytes(uint32_t frame_bytes, Ptr<const Packet> packet)
{
    if (frame_bytes > 0) {
        ConstCast<Packet>(packet)->AddPaddingAtEnd(frame_bytes);
    }
}

void Received(uint64_t wanted, Ptr<const Packet> packet, const Address&)
{
    tally.delivered += packet->GetSize();
    tally.last_seconds = Simulator::Now().GetSeconds();
    for (uint32_t i = 0; i < 2; i++) {
        tally.joule[i] = radios.Get(i)->GetTotalEnergyConsumption() - joule_before[i];
    }
    if (tally.delivered >= wanted) {
        Simulator::Stop();
    }
}

void Sent(WifiConstPsduMap psdus, WifiTxVector vector, double)
{
    for (const auto& entry : psdus) {
        const auto& header = entry.second->GetHeader(0);
        if (header.IsData() && entry.second->GetPayload(0)->GetSize() > 0) {
            tally.data_frames++;
            tally.data_frame_bytes += entry.second->GetSize();
            tally.rates[vector.GetMode().GetDataRate(vector) / 1000]++;
        } else if (header.IsAck()) {
            tally.acknowledgements++;
        } else {
            tally.other_frames++;
        }
    }
}

// UDP has no window, so the sender looks at its own queue and keeps a few packets in it: the
// channel is saturated and nothing is dropped before it is sent.
class DatagramSender
{
  public:
    DatagramSender(Ptr<Socket> socket, Ptr<WifiNetDevice> device, uint64_t bytes)
        : m_socket(socket), m_device(device), m_left(bytes)
    {
    }

    void Fill()
    {
        PointerValue value;
        m_device->GetMac()->GetAttribute("Txop", value);
        auto queue = value.Get<Txop>()->GetWifiMacQueue();
        for (uint32_t waiting = queue->GetNPackets(); waiting < 10 && m_left > 0; waiting++) {
            uint32_t size = static_cast<uint32_t>(std::min<uint64_t>(UDP_PAYLOAD_BYTES, m_left));
            m_socket->Send(Create<Packet>(size));
            m_left -= size;
        }
        if (m_left > 0) {
            Simulator::Schedule(MicroSeconds(500), &DatagramSender::Fill, this);
        } else {
            Simulator::Schedule(Seconds(2), &DatagramSender::Drained, this);
        }
    }

  private:
    // Datagrams may be lost: the run ends when nothing has come for a second.
    void Drained()
    {
        if (Simulator::Now().GetSeconds() - tally.last_seconds > 1.0) {
            Simulator::Stop();
        } else {
            Simulator::Schedule(Seconds(1), &DatagramSender::Drained, this);
        }
    }

    Ptr<Socket> m_socket;
    Ptr<WifiNetDevice> m_device;
    uint64_t m_left;
};

bool Parse(int argc, char* argv[], Request& request)
{
    CommandLine options(__FILE__);
    options.AddValue("mode", "adhoc, or infrastructure (station, access point, station)", request.mode);
    options.AddValue("phy", "b or g", request.phy);
    options.AddValue("protocol", "tcp or udp", request.protocol);
    options.AddValue("bytes", "file size", request.bytes);
    options.AddValue("frame-bytes", "bytes a security protocol adds to a frame", request.frame_bytes);
    options.AddValue("seed", "run number, from 1", request.seed);
    options.AddValue("distance-m", "sender to receiver", request.distance_m);
    options.AddValue("walls-db", "loss in walls on every link", request.walls_db);
    options.AddValue("fading", "Rayleigh fading", request.fading);
    options.AddValue("exponent", "path loss exponent", request.exponent);
    options.AddValue("tx-dbm", "transmit power", request.tx_dbm);
    options.AddValue("limit-seconds", "simulated time after which to give up", request.limit_seconds);
    options.AddValue("volts", "supply of the radio", request.volts);
    options.AddValue("tx-ma", "transmitting", request.tx_ma);
    options.AddValue("rx-ma", "receiving", request.rx_ma);
    options.AddValue("idle-ma", "listening", request.idle_ma);
    options.Parse(argc, argv);
    return (request.mode == "adhoc" || request.mode == "infrastructure") &&
           (request.phy == "b" || request.phy == "g") &&
           (request.protocol == "tcp" || request.protocol == "udp") && request.bytes > 0 &&
           request.seed > 0;
}

YansWifiPhyHelper MakePhy(const Request& request)
{
    auto channel = YansWifiChannelHelper();
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    // 40.05 dB at 1 m: free space at 2.437 GHz. Walls are part of the reference loss.
    double reference_db = 20 * std::log10(4 * M_PI * 2.437e9 / 299792458.0) + request.walls_db;
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent",
                               DoubleValue(request.exponent), "ReferenceLoss",
                               DoubleValue(reference_db));
    if (request.fading) {
        channel.AddPropagationLoss("ns3::NakagamiPropagationLossModel", "m0", DoubleValue(1), "m1",
                                   DoubleValue(1), "m2", DoubleValue(1));
    }
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(request.tx_dbm));
    phy.Set("TxPowerEnd", DoubleValue(request.tx_dbm));
    // The default of -82 dBm would turn a poor link into no link; a receiver of the time took
    // 1 Mbit/s down to about -94 dBm, and the error model decides above that.
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi",
                                  DoubleValue(-100), "Threshold", DoubleValue(0));
    return phy;
}

void Place(const NodeContainer& nodes, double distance_m)
{
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    places->Add(Vector(distance_m, 0, 0));
    places->Add(Vector(distance_m / 2, 0, 0));
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
}

NetDeviceContainer Join(const Request& request, const NodeContainer& nodes, const YansWifiPhyHelper& phy)
{
    WifiHelper wifi;
    wifi.SetStandard(request.phy == "b" ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211g);
    if (request.fading) {
        wifi.SetRemoteStationManager("ns3::MinstrelWifiManager");
    } else {
        wifi.SetRemoteStationManager("ns3::IdealWifiManager");
    }
    WifiMacHelper mac;
    if (request.mode == "adhoc") {
        mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
        return wifi.Install(phy, mac, nodes);
    }
    Ssid ssid("motecrypt");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false),
                "ActiveProbing", BooleanValue(true));
    NetDeviceContainer devices = wifi.Install(phy, mac, NodeContainer(nodes.Get(0), nodes.Get(1)));
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false));
    devices.Add(wifi.Install(phy, mac, NodeContainer(nodes.Get(2))));
    return devices;
}

void Print(const Request& request)
{
    double seconds = tally.last_seconds - START_SECONDS;
    std::printf("{\"seed\": %u, \"delivered_bytes\": %llu, \"complete\": %s, \"seconds\": %.9f, ",
                request.seed, static_cast<unsigned long long>(tally.delivered),
                tally.delivered >= request.bytes ? "true" : "false", seconds < 0 ? 0 : seconds);
    std::printf("\"data_frames\": %llu, \"data_frame_bytes\": %llu, \"acknowledgements\": %llu, "
                "\"other_frames\": %llu, \"data_frames_by_kbit\": {",
                static_cast<unsigned long long>(tally.data_frames),
                static_cast<unsigned long long>(tally.data_frame_bytes),
                static_cast<unsigned long long>(tally.acknowledgements),
                static_cast<unsigned long long>(tally.other_frames));
    const char* separator = "";
    for (const auto& rate : tally.rates) {
        std::printf("%s\"%llu\": %llu", separator, static_cast<unsigned long long>(rate.first),
                    static_cast<unsigned long long>(rate.second));
        separator = ", ";
    }
    std::printf("}, \"sender_joule\": %.9f, \"receiver_joule\": %.9f}\n", tally.joule[0], tally.joule[1]);
}

} // namespace

int main(int argc, char* argv[])
{
    Request request;
    if (!Parse(argc, argv, request)) {
        std::cerr << "wlan: mode adhoc|infrastructure, phy b|g, protocol tcp|udp, bytes and seed above 0\n";
        return 2;
    }
    RngSeedManager::SetSeed(20090101);
    RngSeedManager::SetRun(request.seed);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(TCP_SEGMENT_BYTES));
    // UDP never sends again, so nothing may be dropped while it waits: not for an address (the
    // default keeps three packets), nor in the access point's queue (the default drops after 0.5 s).
    Config::SetDefault("ns3::ArpCache::PendingQueueSize", UintegerValue(1000));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(60)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("100000p")));

    NodeContainer nodes;
    nodes.Create(request.mode == "adhoc" ? 2 : 3);
    Place(nodes, request.distance_m);
    auto phy = MakePhy(request);
    auto devices = Join(request, nodes, phy);

    BasicEnergySourceHelper battery; // far larger than any transfer: only the differences are read
    battery.Set("BasicEnergySourceInitialEnergyJ", DoubleValue(1e7));
    battery.Set("BasicEnergySupplyVoltageV", DoubleValue(request.volts));
    auto sources = battery.Install(nodes);
    WifiRadioEnergyModelHelper radio;
    radio.Set("TxCurrentA", DoubleValue(request.tx_ma / 1000));
    radio.Set("RxCurrentA", DoubleValue(request.rx_ma / 1000));
    radio.Set("IdleCurrentA", DoubleValue(request.idle_ma / 1000));
    radio.Set("CcaBusyCurrentA", DoubleValue(request.idle_ma / 1000));
    radios = radio.Install(devices, sources);

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.1.1.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    InetSocketAddress receiver(interfaces.GetAddress(1), PORT);

    std::string factory = request.protocol == "tcp" ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), PORT));
    auto sinks = sink.Install(nodes.Get(1));
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Received, request.bytes));

    DatagramSender* datagrams = nullptr;
    if (request.protocol == "tcp") {
        BulkSendHelper bulk(factory, receiver);
        bulk.SetAttribute("MaxBytes", UintegerValue(request.bytes));
        bulk.SetAttribute("SendSize", UintegerValue(TCP_SEGMENT_BYTES));
        bulk.Install(nodes.Get(0)).Start(Seconds(START_SECONDS));
    } else {
        auto socket = Socket::CreateSocket(nodes.Get(0), TypeId::LookupByName(factory));
        socket->Connect(receiver);
        datagrams = new DatagramSender(socket, DynamicCast<WifiNetDevice>(devices.Get(0)), request.bytes);
        Simulator::Schedule(Seconds(START_SECONDS), &DatagramSender::Fill, datagrams);
    }
    for (uint32_t i = 0; i < devices.GetN(); i++) {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetMac()->TraceConnectWithoutContext(
            "MacTx", MakeBoundCallback(&AddSecurityBytes, request.frame_bytes));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Sent));
    }

    Simulator::Schedule(Seconds(START_SECONDS), []() {
        tally = Tally(); // what was said before the transfer (beacons, joining) does not count
        for (uint32_t i = 0; i < 2; i++) {
            joule_before[i] = radios.Get(i)->GetTotalEnergyConsumption();
        }
    });
    Simulator::Stop(Seconds(START_SECONDS + request.limit_seconds));
    Simulator::Run();
    Print(request);
    radios = DeviceEnergyModelContainer();
    Simulator::Destroy();
    delete datagrams;
    return 0;
}
