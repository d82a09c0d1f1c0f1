"""Measuring on several computers, with Dask's `distributed` as the engine.

Addresses are in places, certificates in keys, messages in batches, what a worker does in worker. The module
crew has the workers as a crew of `bench.ensure`. A process of a scheduler or worker is host; start starts it.

Dask sends pickled Python, so anyone who may connect may run anything: beyond this computer everybody needs a
certificate. Only `bench.ensure` stores measurements, on the computer that has the results file.
"""
