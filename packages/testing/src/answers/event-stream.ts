import { crc32 } from 'node:zlib'

/** A header value: a text, or bytes that start with their type number. */
export type HeaderValue = string | Uint8Array

const textType = 7

function textHeader(value: string): Uint8Array {
  const size = Buffer.alloc(3)
  size.writeUInt8(textType)
  size.writeUInt16BE(Buffer.byteLength(value), 1)
  return Buffer.concat([size, Buffer.from(value)])
}

const headerBytes = ([name, value]: readonly [string, HeaderValue]): Uint8Array =>
  Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), typeof value === 'string' ? textHeader(value) : value])

/** The start of a message: its length, that of its headers, and a checksum of both. */
export function prelude(length: number, headersLength: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(length)
  bytes.writeUInt32BE(headersLength, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
  return bytes
}

/** A message of an AWS event stream: a prelude, headers, a payload, and a checksum of all of it. */
export function eventMessage(headers: Readonly<Record<string, HeaderValue>>, payload: Uint8Array): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(headerBytes))
  const message = Buffer.concat([prelude(16 + head.length + payload.length, head.length), head, payload, Buffer.alloc(4)])
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4)
  return message
}
