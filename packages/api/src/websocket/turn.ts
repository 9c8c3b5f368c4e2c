import { GatewayError } from '@signalbox/dialects/errors'
import type { Frame } from '@signalbox/dialects/protocol'
import { type History, outputOf } from './history.ts'
import type { WebSocketTurn } from './port.ts'

/** Events after which a response can be continued. */
const continuable: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])

export function createTurn(history: History, { bytes, caller }: Pick<WebSocketTurn, 'bytes' | 'caller'>): WebSocketTurn {
  let turn: ReturnType<History['open']> | undefined
  let warmsUp = false
  const end = ({ event = '', data }: Frame): void => {
    if (turn === undefined) return
    // A warm-up takes the place of the turn that it continues: a turn that fails ends the only way to its conversation.
    if (warmsUp || event === 'response.failed') history.forget(turn)
    if (!continuable.has(event)) return
    const output = outputOf(data)
    if (output) history.keep(turn, output)
  }
  return {
    bytes,
    caller,
    bodyOf({ type, generate, stream_id, ...fields }) {
      if (type !== 'response.create') throw invalidFieldError('`type` of a message must be "response.create".', 'type')
      if (stream_id !== undefined && stream_id !== null) throw notStreamedError()
      if (generate !== undefined && typeof generate !== 'boolean') throw invalidFieldError('`generate` must be true or false.', 'generate')
      warmsUp = generate === false
      // A warm-up costs nothing, so it must not cost the work of a long conversation.
      turn = history.open(fields, bytes, { isAlone: warmsUp })
      // Responses are always streamed, so `stream` is ignored.
      return { ...turn.body, stream: true }
    },
    isWarmUp: () => warmsUp,
    linesOf(frames) {
      let lines = ''
      for (const frame of frames) {
        lines += `${frame.data}\n`
        if (frame.event?.startsWith('response.')) end(frame)
      }
      return lines
    },
    fail: () => {
      if (turn) history.forget(turn)
    },
  }
}

const invalidFieldError = (message: string, param: string): GatewayError => new GatewayError('invalid_parameter_value', { message, param })

const notStreamedError = (): GatewayError =>
  invalidFieldError(
    '`stream_id` is not supported: a connection runs one response at a time. Open a connection for each stream.',
    'stream_id',
  )
