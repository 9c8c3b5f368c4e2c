import type { Logger } from '@signalbox/core/runtime'
import type { RequestLine } from '@signalbox/node-http'

/** A logger for the gateway and the server. */
export interface Log {
  readonly logger: Logger
  readonly onRequest: (line: RequestLine) => void
  /** Writes what is buffered. Call it before the process ends. */
  flush(): void
}

/** The stream that lines are written to. */
export interface Sink {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface LogOptions {
  /** The number of the worker process, included in each of its lines. */
  readonly worker?: number | undefined
  readonly now?: () => number
  /** Runs the function at the end of this turn of the event loop. */
  readonly defer?: (run: () => void) => unknown
}

/** Buffered characters beyond which lines are written at once. */
const maxWaiting = 65_536
/** Bytes up to which a write to a pipe is atomic. Longer ones may be interleaved with those of another process. */
const atomicBytes = 4_096

type Facts = Readonly<Record<string, unknown>>

/** Creates a log with one line per request and failure: JSON, or plain text on a terminal. All lines of one turn of the event loop are a single write. */
export function createLog(sink: Sink, { worker, now = Date.now, defer = setImmediate }: LogOptions = {}): Log {
  const time = timeWriter(now)
  const human = sink.isTTY === true
  const inTerminal = worker === undefined ? '' : ` w${worker}`
  const inJson = worker === undefined ? {} : { worker }
  let waiting = ''

  const flush = (): void => {
    const text = waiting
    waiting = ''
    if (worker !== undefined) for (const piece of atomicPieces(text)) sink.write(piece)
    else if (text !== '') sink.write(text)
  }
  const write = (line: string): void => {
    if (waiting === '') defer(flush)
    waiting += `${line}\n`
    if (waiting.length >= maxWaiting) flush()
  }
  const log =
    (level: string) =>
    (facts: Facts, message: string): void =>
      write(
        redactKeys(
          human
            ? `${time().slice(11, 19)}${inTerminal} ${level} ${message} ${replaceControlCharacters(JSON.stringify(facts))}`
            : asJson({ time: time(), level, ...inJson, message, ...facts }),
        ),
      )
  return {
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    onRequest: line => write(human ? `${time().slice(11, 19)}${inTerminal} ${terminalLine(line)}` : jsonLine(time(), line, worker)),
    flush,
  }
}

/** Writes the time in ISO 8601. Formats a second once, because a date takes longer than the rest of a line. */
function timeWriter(now: () => number): () => string {
  let second = Number.NaN
  let written = ''
  return () => {
    const at = now()
    const since = Math.floor(at / 1_000)
    if (since !== second) {
      second = since
      written = new Date(since * 1_000).toISOString().slice(0, -4)
    }
    return `${written}${String(Math.floor(at - since * 1_000)).padStart(3, '0')}Z`
  }
}

/** Written field by field, because only external text needs escaping and censoring. */
const jsonLine = (time: string, line: RequestLine, worker: number | undefined): string =>
  [
    `{"time":"${time}","level":"info"`,
    numberField('worker', worker),
    `,"request_id":"${line.requestId}","method":"${line.method}","route":"${line.route}"`,
    `,"status":${line.status},"ms":${line.ms}`,
    textField('key_id', line.keyId),
    textField('workspace_id', line.workspaceId),
    nameField('model', line.model),
    nameField('provider', line.provider),
    numberField('input_tokens', line.inputTokens),
    numberField('output_tokens', line.outputTokens),
    numberField('cost_usd', line.costMicrodollars === undefined ? undefined : line.costMicrodollars / 1_000_000),
    escapedField('path', line.path),
    escapedField('code', line.code),
    '}',
  ].join('')

const textField = (name: string, value: string | undefined): string => (value === undefined ? '' : `,"${name}":"${value}"`)
const numberField = (name: string, value: number | undefined): string => (value === undefined ? '' : `,"${name}":${value}`)
const escapedField = (name: string, value: string | undefined): string => (value === undefined ? '' : `,"${name}":${escapeText(value)}`)
const escapeText = (text: string): string => redactKeys(asJson(text))

/** Names of models and providers as JSON. They are few, and escaping one takes as long as the rest of a line. */
const escapedNames = new Map<string, string>()
const maxEscapedNames = 500

/** A field with a name that is cut at `maxName`. */
function nameField(field: string, name: string | undefined): string {
  if (name === undefined) return ''
  // The cut name is a slice, which would keep the whole of it in memory.
  if (name.length > maxName) return escapedField(field, name.slice(0, maxName))
  const known = escapedNames.get(name)
  const json = known ?? escapeText(name)
  if (known === undefined) {
    if (escapedNames.size >= maxEscapedNames) escapedNames.clear()
    escapedNames.set(name, json)
  }
  return `,"${field}":${json}`
}

/** Whole lines, as many as an atomic write can hold; a longer line is written alone. */
function* atomicPieces(text: string): Generator<string> {
  let piece = ''
  let bytes = 0
  for (const [line] of text.matchAll(/.*\n/g)) {
    const more = Buffer.byteLength(line)
    if (bytes > 0 && bytes + more > atomicBytes) {
      yield piece
      piece = ''
      bytes = 0
    }
    piece += line
    bytes += more
  }
  if (bytes > 0) yield piece
}

/** Maximum logged characters of a model name. */
const maxName = 200

function terminalLine({ requestId, method, route, status, ms, ...line }: RequestLine): string {
  const tokens = line.inputTokens === undefined ? [] : [`${line.inputTokens}+${line.outputTokens ?? 0} tokens`]
  const cost = line.costMicrodollars === undefined ? [] : [`$${(line.costMicrodollars / 1_000_000).toFixed(6)}`]
  const names = [line.path, line.model?.slice(0, maxName), line.provider, line.code].flatMap(name => name ?? []).join(' ')
  return [
    status,
    method,
    route,
    ...(names === '' ? [] : [redactKeys(replaceControlCharacters(names))]),
    `${Math.round(ms)} ms`,
    ...tokens,
    ...cost,
    requestId,
  ].join(' ')
}

/** Removes control characters: a model name comes from the client and must not control the terminal or start a line. */
const replaceControlCharacters = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')

/** JSON in which characters are escaped that other readers take for a line end or a control character. */
const asJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Masks keys, which should never get here. */
const redactKeys = (line: string): string => line.replace(/\b(ak_|sk-|inv_)[\w-]{6,}/g, '$1…')
