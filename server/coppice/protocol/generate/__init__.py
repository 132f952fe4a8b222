"""What is generated from the message models: JSON Schema, TypeScript types, tables of docs/protocol.md."""
