"""Secrets of each form, and what of them no result may show."""

SECRETS = {
    "a provider's key": "sk-proj-4f9aB2kLm8QwErTyUiOpAsDfGh",
    "a token of GitHub": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "a key of AWS": "AKIAIOSFODNN7EXAMPLE",
    "a web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0T",
    "a private key": "-----BEGIN EC PRIVATE KEY-----\nMIIEowIBAAKCAQEA7v4k\n-----END EC PRIVATE KEY-----",
    "a key of PGP": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF7v\n-----END PGP PRIVATE KEY BLOCK-----",
    "a key of age": f"AGE-SECRET-KEY-1{'QPZRY9X8' * 8}"[:74],
    "a token of DigitalOcean": f"dop_v1_{'0c1d2e3f' * 8}",
    "by its name": 'DATABASE_PASSWORD="tr0ub4dor3xyz"',
    "in JSON": '{"apiKey": "9f8e7d6c5b4a39281706"}',
    "in a header": "Authorization: Bearer 9aF3kLmN0pQrStUvWxYz12345678",
    "in an address": "postgres://garden:s3cr3tpass@db.example/trees",
    "as an option": "mysql --admin-password quince7orchard",
    "of a login": "curl -u gardener:medlar5hedge https://trees.example",
    "with slashes": "AccountKey=wK3/qe+Zr8/0vT==;",
    "by its randomness": "x8Kq2LmZp0Rt7Vw4Yb1Nc6Hd9Jf3Gs5A",
}
HIDDEN = (
    "4f9aB2",
    "16C7e42F",
    "IOSFODNN7",
    "dozjgNry",
    "MIIEowIB",
    "lQOYBF7v",
    "QPZRY9X8",
    "0c1d2e3f",
    "tr0ub4dor",
    "9f8e7d6c",
    "9aF3kLmN",
    "s3cr3tpass",
    "quince7",
    "medlar5",
    "qe+Zr8",
    "x8Kq2LmZ",
)
FORMS = (
    "sk-", "pk_", "rk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "AIza", "ya29.", "npm_",
    "pypi-", "hf_", f"SG.{'a' * 16}.", "dop_v1_", "eyJhbGciOiJI.eyJzdWIi.",
)  # fmt: skip
"""What keys begin with that are recognized by it alone."""
