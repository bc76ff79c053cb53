"""The papers: one package each; `results` names the claims of those that share its form."""
