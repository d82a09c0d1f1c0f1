"""motecrypt considers encryption for small wireless devices.

    from motecrypt import MeasureRequest, measure

    found = measure(MeasureRequest(ciphers=["ascon-aead128"], devices=["uno"]))
    print(found.rows())

Each function takes one request and gives one result (docs/python.md).
"""

from typing import Any

__version__ = "0.2.0"

#: What a program imports, and where it is; it is loaded when it is asked for.
_FUNCTIONS = {
    "motecrypt.adviser.asked": ("Supply",),
    "motecrypt.adviser.model": ("Budgets", "Question"),
    "motecrypt.air.radios": ("Channel", "load_radio"),
    "motecrypt.app.advise": ("AdviseRequest", "AdviseResult", "NodeStorage", "advise"),
    "motecrypt.app.airtime": ("message_costs",),
    "motecrypt.app.audit": ("AuditRequest", "AuditResult", "PublicKeyAudit", "audit", "audit_public_key"),
    "motecrypt.app.bundle": ("VerifiedBundle", "verify_bundle"),
    "motecrypt.app.ci": ("CiRequest", "CiResult", "ci"),
    "motecrypt.app.compare": (
        *("CompareRequest", "CompareResult", "ComparedFile", "HistoryRequest"),
        *("compare", "compare_history"),
    ),
    "motecrypt.app.crypt": ("CryptRequest", "crypt"),
    "motecrypt.app.doctor": ("ToolSetReport", "doctor"),
    "motecrypt.app.export": ("ExportRequest", "ExportResult", "export"),
    "motecrypt.app.files": ("FileForm", "FileKey", "FileRequest", "decrypt_file", "encrypt_file"),
    "motecrypt.app.gateway": (
        *("GatewayNodes", "GatewayRecord", "GatewayRequest", "GatewaySinks"),
        *("Mqtt", "NodeProtocols", "serve_gateway"),
    ),
    "motecrypt.app.gateway_doctor": ("CheckVerdict", "GatewayCheck", "gateway_doctor"),
    "motecrypt.app.gateway_nodes": ("GatewayStatus", "Renewed", "gateway_status", "renew_node"),
    "motecrypt.app.key": ("NodeKeyRequest", "node_key"),
    "motecrypt.app.leak": ("LeakRequest", "LeakResult", "attack_traces", "leak", "leak_controls"),
    "motecrypt.app.link_ends": ("SerialRadio",),
    "motecrypt.app.measure": ("Builds", "Lengths", "MeasureRequest", "MeasureResult", "measure"),
    "motecrypt.app.node": ("build_node",),
    "motecrypt.app.paper_link": ("PaperLink", "PaperSent", "receive_paper", "send_paper"),
    "motecrypt.app.profile": ("ProfileResult", "profile"),
    "motecrypt.app.radio": ("RadiosRequest", "RadiosResult", "virtual_radios"),
    "motecrypt.app.receive": ("Received", "ReceiveRequest", "ReceiveResult", "Until", "receive"),
    "motecrypt.app.records": ("RecordsRequest", "RecordsResult", "records"),
    "motecrypt.app.report": ("ReportRequest", "ReportResult", "report"),
    "motecrypt.app.reproduce": ("ReproduceRequest", "ReproduceResult", "StudyResult", "reproduce"),
    "motecrypt.app.results": ("fetch_results", "merge_results", "publish_results", "query_results"),
    "motecrypt.app.run": ("RunRequest", "RunResult", "run"),
    "motecrypt.app.send": ("SendHow", "SendRequest", "SendResult", "send"),
    "motecrypt.app.serve": ("report_server",),
    "motecrypt.app.stack": ("StackRequest", "StackResult", "stack"),
    "motecrypt.app.sweep": ("SweepRequest", "sweep"),
    "motecrypt.attack.leakage.assessment": ("LeakQuestion",),
    "motecrypt.attack.leakage.captures": ("assess_traces",),
    "motecrypt.attack.leakage.files": ("read_traces",),
    "motecrypt.attack.leakage.harness": ("LeakWindow",),
    "motecrypt.app.provision": ("KeyFiles", "ProvisionRequest", "ProvisionResult", "provision", "registered"),
    "motecrypt.app.wlan": ("WlanRequest", "WlanResult", "WlanSender", "WlanWay", "wlan"),
    "motecrypt.exports.commands": ("LinkRadio",),
    "motecrypt.link.keys": ("create_key_file", "create_master_file"),
    "motecrypt.link.ports.signals": ("Stop",),
    "motecrypt.simulate.emulate.run": ("ChipSettings", "Uart"),
}
__all__ = ["__version__", *(name for names in _FUNCTIONS.values() for name in names)]


def __getattr__(name: str) -> Any:
    """A function of the API, or one of its records."""
    from importlib import import_module

    for place, names in _FUNCTIONS.items():
        if name in names:
            return getattr(import_module(place), name)
    raise AttributeError(f"module 'motecrypt' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
