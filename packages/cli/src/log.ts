import type { Logger } from '@signalbox/core/runtime'
import type { RequestLine } from '@signalbox/node-http'

export interface Log {
  readonly logger: Logger
  readonly onRequest: (line: RequestLine) => void
}

/** Where lines go. */
export interface Sink {
  readonly isTTY?: boolean
  write(text: string): unknown
}

type Facts = Readonly<Record<string, unknown>>

/** One line per request, and one per thing that went wrong: JSON for machines, words for a terminal. */
export function createLog(sink: Sink, now: () => number = Date.now): Log {
  const write = (line: string): void => void sink.write(`${censored(line)}\n`)
  const time = (): string => new Date(now()).toISOString()
  const human = sink.isTTY === true
  const log =
    (level: string) =>
    (facts: Facts, message: string): void =>
      write(
        human
          ? `${time().slice(11, 19)} ${level} ${message} ${plain(JSON.stringify(facts))}`
          : asLine({ time: time(), level, message, ...facts }),
      )
  return {
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    onRequest: line =>
      write(human ? `${time().slice(11, 19)} ${forEyes(line)}` : asLine({ time: time(), level: 'info', ...forMachines(line) })),
  }
}

const forMachines = (line: RequestLine): Facts => ({
  request_id: line.requestId,
  method: line.method,
  route: line.route,
  status: line.status,
  ms: line.ms,
  key_id: line.keyId,
  workspace_id: line.workspaceId,
  model: line.model?.slice(0, 200),
  provider: line.provider,
  input_tokens: line.inputTokens,
  output_tokens: line.outputTokens,
  cost_usd: line.costMicrodollars === undefined ? undefined : line.costMicrodollars / 1_000_000,
  code: line.code,
})

function forEyes({ requestId, method, route, status, ms, ...line }: RequestLine): string {
  const tokens = line.inputTokens === undefined ? [] : [`${line.inputTokens}+${line.outputTokens ?? 0} tokens`]
  const cost = line.costMicrodollars === undefined ? [] : [`$${(line.costMicrodollars / 1_000_000).toFixed(6)}`]
  const who = [line.model?.slice(0, 200), line.provider, line.code].flatMap(word => word ?? [])
  return plain([status, method, route, ...who, `${Math.round(ms)} ms`, ...tokens, ...cost, requestId].join(' '))
}

/** A model's name comes from the caller: nothing of it may move a terminal's cursor or begin a line. */
const plain = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')

/** JSON lets pass what ends a line, or steers a terminal, for others who read it. */
const asLine = (facts: Facts): string =>
  JSON.stringify(facts).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Nothing should put a key here; if something does, it goes no further. */
const censored = (line: string): string => line.replace(/\b(ak_|sk-|inv_)[\w-]{6,}/g, '$1…')
