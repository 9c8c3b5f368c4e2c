import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { parsed } from './parsed.ts'

/** One recorded response of a real provider: the stream, the whole body, or both, for the same kind of call. */
export interface Recording {
  readonly vendor: string
  /** File name without extensions. */
  readonly name: string
  readonly dialect: RecordedDialect
  /** JSON payloads of a stream, in order, without framing. */
  readonly chunks?: readonly string[]
  /** Bytes of a stream exactly as received. */
  readonly bytes?: Uint8Array
  readonly whole?: JsonObject
}

export type RecordedDialect = 'responses' | 'chat' | 'completions' | 'messages' | 'gemini' | 'bedrock' | 'error'

export interface Recordings {
  readonly all: readonly Recording[]
  readonly byVendor: Readonly<Record<string, readonly Recording[]>>
  /** Why there are none. A test that needs them skips with this reason. */
  readonly missing?: string
}

/** Detected by the shape of the first payload, because a folder name identifies the vendor, not the dialect. */
const marks: readonly (readonly [RecordedDialect, (body: JsonObject) => boolean])[] = [
  ['completions', body => body.object === 'text_completion'],
  ['chat', body => Array.isArray(body.choices)],
  ['responses', body => body.object === 'response' || (typeof body.type === 'string' && /^(response\.|error$|keepalive$)/.test(body.type))],
  ['messages', body => body.type === 'message' || (typeof body.type === 'string' && /^(message_|content_block_|ping$)/.test(body.type))],
  ['gemini', body => Array.isArray(body.candidates) || 'usageMetadata' in body],
  ['bedrock', body => 'messageStart' in body || 'contentBlockStart' in body || 'contentBlockDelta' in body || 'stopReason' in body],
  ['error', body => 'error' in body],
]

const dialectOf = (...bodies: readonly (JsonObject | undefined)[]): RecordedDialect => {
  for (const body of bodies) {
    const found = body && marks.find(([, fits]) => fits(body))
    if (found) return found[0]
  }
  return 'error'
}

/** The given folder, or SIGNALBOX_RECORDINGS. */
function locate(named: string | undefined): string | undefined {
  return named !== undefined && existsSync(named) ? named : undefined
}

const endings = { '.chunks.txt': 'chunks', '.sse': 'bytes', '.json': 'whole' } as const

const read: { readonly [K in (typeof endings)[keyof typeof endings]]: (file: string) => Partial<Recording> } = {
  chunks: file => ({
    chunks: readFileSync(file, 'utf8')
      .split('\n')
      .filter(line => line.trim() !== ''),
  }),
  bytes: file => ({ bytes: readFileSync(file) }),
  whole: file => {
    const whole = parsed(readFileSync(file, 'utf8'))
    return whole ? { whole } : {}
  },
}

function readVendor(folder: string, vendor: string): readonly Recording[] {
  const found = new Map<string, Partial<Recording>>()
  for (const file of readdirSync(join(folder, vendor)).sort()) {
    const ending = Object.entries(endings).find(([suffix]) => file.endsWith(suffix))
    if (!ending) continue
    const name = basename(file, ending[0])
    found.set(name, { ...found.get(name), ...read[ending[1]](join(folder, vendor, file)) })
  }
  return [...found].map(([name, parts]) => {
    const firstOfBytes = parts.bytes && /^data: ?(.*)$/m.exec(Buffer.from(parts.bytes).toString())?.[1]
    return { vendor, name, dialect: dialectOf(parsed(parts.chunks?.[0] ?? firstOfBytes ?? ''), parts.whole), ...parts }
  })
}

/**
 * Recorded responses of real providers, if available.
 *
 * @example
 * const { all, missing } = recordings()
 * describe.skipIf(missing)(`recorded streams${missing ? ` (${missing})` : ''}`, () => test.each(all)('$vendor/$name', …))
 */
export function recordings(folder?: string): Recordings {
  const where = folder ?? process.env.SIGNALBOX_RECORDINGS
  const found = locate(where)
  if (found === undefined) {
    return {
      all: [],
      byVendor: {},
      missing: `no recordings ${where === undefined ? '' : `at ${where}`}; SIGNALBOX_RECORDINGS names their folder`,
    }
  }
  const vendors = readdirSync(found, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
  const byVendor = Object.fromEntries(vendors.sort().map(vendor => [vendor, readVendor(found, vendor)]))
  return { all: Object.values(byVendor).flat(), byVendor }
}

/** Whether the stream can be sent as server-sent events; Bedrock uses another framing. */
export const isSse = (recording: Recording): boolean =>
  recording.bytes !== undefined || (recording.chunks !== undefined && recording.dialect !== 'bedrock')

/** Dialects whose event names are the types of the payloads. */
const named: ReadonlySet<RecordedDialect> = new Set(['responses', 'messages'])
/** Dialects whose streams end with `[DONE]`. */
const closedByDone: ReadonlySet<RecordedDialect> = new Set(['chat', 'completions'])

/** Also works for invalid JSON: a few recordings are broken, and worth replaying for that reason. */
const typeOf = (data: string): string | undefined => {
  const type = parsed(data)?.type ?? /^\{"type":"([^"]+)"/.exec(data)?.[1]
  return typeof type === 'string' ? type : undefined
}

/** The bytes as the vendor would send them. */
export function asSse(recording: Recording): Uint8Array {
  if (recording.bytes) return recording.bytes
  if (!recording.chunks || !isSse(recording))
    throw new TypeError(`${recording.vendor}/${recording.name} holds no stream that can be sent as server-sent events.`)
  const events = recording.chunks.map(data => {
    const type = named.has(recording.dialect) ? typeOf(data) : undefined
    return type === undefined ? `data: ${data}\n\n` : `event: ${type}\ndata: ${data}\n\n`
  })
  return Buffer.from(events.join('') + (closedByDone.has(recording.dialect) ? 'data: [DONE]\n\n' : ''))
}
