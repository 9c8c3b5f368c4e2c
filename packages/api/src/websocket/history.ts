import { GatewayError } from '@signalbox/dialects/errors'
import { estimateMemory, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { checkBody } from '@signalbox/gateway/in-process'
import type { Sharer, Upload, Uploads } from '../uploads.ts'

/** The conversation up to a response of a connection. */
interface Turn {
  /** The items that this turn added: its input, then its output. */
  readonly items: readonly Json[]
  readonly before: Turn | undefined
  /** Bytes of text of this turn and all before it. */
  readonly textBytes: number
  /** Bytes of memory of this turn and all before it. */
  readonly memory: number
}

/** A turn without a response yet. */
interface OpenTurn {
  readonly previousId: string | undefined
  readonly before: Turn | undefined
  readonly input: readonly Json[]
  /** Bytes of the message with the input. */
  readonly bytes: number
  /** The body of the equivalent HTTP request: all items of the conversation, without `previous_response_id`. */
  readonly body: JsonObject
}

/** The part of a response that continues a conversation. */
interface TurnOutput {
  readonly id: string
  readonly output: readonly Json[]
  readonly bytes: number
}

interface OpenOptions {
  /** Leaves the earlier turns out of the body, so that its work is that of the message alone. The next turn checks them with the new ones. */
  readonly isAlone?: boolean
}

/** The earlier turns of one connection, by response id, in memory only. */
export interface History {
  /**
   * Opens a turn.
   *
   * @throws `previous_response_not_found` (400) if the previous response belongs to another connection, failed, or is no longer kept;
   * `request_too_large` (413) if the whole conversation is larger than `maxBodyBytes`; `invalid_request` (400) if it exceeds another limit of a body
   */
  open(body: JsonObject, bytes: number, options?: OpenOptions): OpenTurn
  /** Keeps a turn under the id of its response. */
  keep(turn: OpenTurn, response: TurnOutput): void
  /** Forgets the response that a failed turn continued, as OpenAI does. */
  forget(turn: OpenTurn): void
  close(): void
}

/** Maximum responses that a connection can continue from. Older ones are dropped. */
const maxTurns = 64

interface HistoryOptions {
  readonly maxBodyBytes: number
  readonly maxHistoryBytes: number
  /** Counts the bytes of all connections. */
  readonly kept: Uploads
  readonly caller: Sharer
}

export function createHistory({ maxBodyBytes, maxHistoryBytes, kept, caller }: HistoryOptions): History {
  let turns = new Map<string, Turn>()
  let bytes = 0
  let claim: Upload | undefined

  /** Drops all but one turn and those before it, or everything if that is still too much. */
  const shrinkTo = (id: string, turn: Turn): void => {
    claim?.release()
    claim = kept.open(caller)
    const fits = turn.memory <= maxHistoryBytes && claim.claim(turn.memory) === undefined
    turns = new Map(fits ? [[id, turn]] : [])
    bytes = fits ? turn.memory : 0
  }
  return {
    open({ previous_response_id: previous, ...body }, messageBytes, { isAlone = false } = {}) {
      const input = inputItems(body.input)
      if (previous === undefined || previous === null) return { previousId: undefined, before: undefined, input, bytes: messageBytes, body }
      const before = typeof previous === 'string' ? turns.get(previous) : undefined
      if (typeof previous !== 'string' || before === undefined)
        throw new GatewayError('previous_response_not_found', {
          message: `Previous response with id '${(typeof previous === 'string' ? previous : JSON.stringify(previous)).slice(0, 100)}' not found: it belongs to another connection, failed, or is no longer stored. Send the full conversation without \`previous_response_id\`.`,
          param: 'previous_response_id',
        })
      if (before.textBytes + messageBytes > maxBodyBytes) throw historyTooLargeError(maxBodyBytes)
      if (isAlone) return { previousId: previous, before, input, bytes: messageBytes, body }
      const whole = { ...body, input: isInput(body.input) ? [...itemsUpTo(before), ...input] : body.input }
      // Each message was checked separately. All of them together form one body.
      checkBody(whole, { keys: false, texts: false })
      return { previousId: previous, before, input, bytes: messageBytes, body: whole }
    },
    keep(turn, { id, output, bytes: outputBytes }) {
      // Compacted items are not sent again; the compaction item of the response replaces them.
      const isCompacted = isTrigger(turn.input.at(-1))
      const before = isCompacted ? undefined : turn.before
      const items = isCompacted ? output : [...turn.input, ...output]
      const own = estimateMemory(items)
      const textBytes = (isCompacted ? 0 : turn.bytes) + outputBytes + (before?.textBytes ?? 0)
      const made: Turn = { items, before, textBytes, memory: own + (before?.memory ?? 0) }
      claim ??= kept.open(caller)
      if (turns.size < maxTurns && bytes + own <= maxHistoryBytes && claim.claim(bytes + own) === undefined) {
        turns.set(id, made)
        bytes += own
      } else shrinkTo(id, made)
    },
    forget({ previousId }) {
      if (previousId !== undefined) turns.delete(previousId)
    },
    close() {
      turns.clear()
      claim?.release()
    },
  }
}

function itemsUpTo(last: Turn | undefined): Json[] {
  const turns: Turn[] = []
  for (let turn = last; turn !== undefined; turn = turn.before) turns.push(turn)
  return turns.reverse().flatMap(({ items }) => items)
}

const isTrigger = (item: Json | undefined): boolean => isObject(item) && item.type === 'compaction_trigger'

const isInput = (input: Json | undefined): boolean =>
  input === undefined || input === null || typeof input === 'string' || Array.isArray(input)

/** A string is a user message, as over HTTP. */
const inputItems = (input: Json | undefined): readonly Json[] =>
  Array.isArray(input) ? input : typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : []

const historyTooLargeError = (limit: number): GatewayError =>
  new GatewayError('request_too_large', {
    message: `The conversation up to \`previous_response_id\` and the new input are larger than the limit of ${limit} bytes.`,
    param: 'previous_response_id',
  })

/** The id and output of the response, from the data of its last event. */
export function outputOf(data: string): TurnOutput | undefined {
  const event: unknown = JSON.parse(data)
  const response = isObject(event) ? event.response : undefined
  if (!isObject(response) || typeof response.id !== 'string' || !Array.isArray(response.output)) return undefined
  return { id: response.id, output: response.output, bytes: data.length }
}
