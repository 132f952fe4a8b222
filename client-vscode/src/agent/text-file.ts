import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

import { ToolError } from "./errors";

/** Bytes. A guess: what an editor still opens at once. */
export const LARGEST = 10_000_000;

/** The text of a file on the disk, null where there is none. Throws `ToolError` for what is no text, or too large. */
export async function textOfFile(path: string): Promise<string | null> {
  const bytes = await bytesOfFile(path);
  return bytes && decoded(bytes);
}

/** What is in a file on the disk, null where there is none. Throws `ToolError` for what is no regular file, or too large. */
export async function bytesOfFile(path: string): Promise<Uint8Array | null> {
  const file = await openFile(path);
  if (file === null) return null;
  try {
    return await contentOf(file);
  } finally {
    await file.close();
  }
}

/** A file on the disk, open for reading; otherwise as `bytesOfFile`. */
export async function openFile(path: string): Promise<FileHandle | null> {
  // Without O_NONBLOCK, which Windows lacks, opening a pipe waits for somebody who writes into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ToolError(`${path} cannot be opened.`);
  });
  if (file === undefined) return null;
  try {
    const state = await file.stat();
    // A device or a pipe could be read for ever.
    if (!state.isFile()) throw new ToolError(`${path} is ${state.isDirectory() ? "a folder. Use list_files" : "no regular file"}.`);
    if (state.size > LARGEST) throw new ToolError(`The file is too large to read at once: ${state.size.toLocaleString("en")} bytes. Use search or run_command.`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * What is in an open file from its beginning to the size that it has now; where it is read next does not change. Throws
 * `ToolError` for a file that has more than its size says, as those of `/proc` do.
 */
export async function contentOf(file: FileHandle): Promise<Uint8Array> {
  const { size } = await file.stat();
  const bytes = Buffer.alloc(size + 1);
  let length = 0;
  for (let count = -1; count !== 0; length += count) ({ bytesRead: count } = await file.read(bytes, length, bytes.length - length, length));
  if (size === 0 && length > 0) throw new ToolError("This is no file on a disk.");
  return bytes.subarray(0, Math.min(length, size));
}

/** The text of what is in a file. Throws `ToolError` for what is no text. */
export function decoded(bytes: Uint8Array): string {
  if (bytes.subarray(0, 8000).includes(0)) throw new ToolError("This is a binary file.");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError("This file is not encoded in UTF-8, the only encoding that is read here. Convert it to UTF-8.");
  }
}
