"""The gate of `motecrypt ci`: what a motecrypt.toml asks for, budgets, judgements and their forms.

It measures nothing: figures come in, checks and files come out.
"""
