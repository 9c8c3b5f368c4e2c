import type { BuiltInDialect } from '@signalbox/dialects'
import type { Frame, Json, JsonObject } from '@signalbox/dialects/protocol'
import type { WrittenAnswer } from '../../src/answers/index.ts'
import { at, bodyOf, objectsAt } from './json.ts'

// In what order, and in how many pieces, a stream may bring the same answer.

interface Spelling {
  /** The index of the parallel item that a frame belongs to; undefined if the item is sent whole. */
  readonly numberOf: (frame: Frame) => Json | undefined
  /** Every call as one piece, and all in one frame if the dialect allows it. */
  readonly atOnce: (told: WrittenAnswer) => readonly Frame[]
}

const frame = (body: JsonObject, event?: string): Frame => ({ ...(event !== undefined && { event }), data: JSON.stringify(body) })

const spellings: Readonly<Record<BuiltInDialect, Spelling>> = {
  responses: {
    numberOf: each => at(bodyOf(each), 'output_index'),
    atOnce: ({ content }) => content.filter(({ event = '' }) => event.startsWith('response.output_item.')),
  },
  chat: {
    numberOf: each => at(bodyOf(each), 'choices', '0', 'delta', 'tool_calls', '0', 'index'),
    atOnce({ whole }) {
      const tool_calls = objectsAt(whole, 'choices', '0', 'message', 'tool_calls').map((call, index) => ({ index, ...call }))
      return [frame({ choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }] })]
    },
  },
  messages: {
    numberOf: each => at(bodyOf(each), 'index'),
    atOnce: ({ whole }) =>
      objectsAt(whole, 'content').flatMap((content_block, index) => [
        frame({ type: 'content_block_start', index, content_block }, 'content_block_start'),
        frame({ type: 'content_block_stop', index }, 'content_block_stop'),
      ]),
  },
  gemini: {
    numberOf: () => undefined,
    atOnce: ({ whole }) => [frame({ candidates: [{ index: 0, content: at(whole, 'candidates', '0', 'content') }] })],
  },
  bedrock: {
    numberOf: each => at(bodyOf(each), 'contentBlockIndex'),
    atOnce: ({ whole }) =>
      objectsAt(whole, 'output', 'message', 'content').flatMap(({ toolUse: call }, contentBlockIndex) => [
        frame({ contentBlockIndex, start: { toolUse: { toolUseId: at(call, 'toolUseId'), name: at(call, 'name') } } }, 'contentBlockStart'),
        frame({ contentBlockIndex, delta: { toolUse: { input: JSON.stringify(at(call, 'input')) } } }, 'contentBlockDelta'),
        frame({ contentBlockIndex }, 'contentBlockStop'),
      ]),
  },
}

export const atOnce = (dialect: BuiltInDialect): Spelling['atOnce'] => spellings[dialect].atOnce

/** Alternates the pieces of all items. */
export const interleaved =
  (dialect: BuiltInDialect) =>
  ({ content }: WrittenAnswer): readonly Frame[] => {
    const lines = [...Map.groupBy(content, spellings[dialect].numberOf).values()]
    const longest = Math.max(...lines.map(({ length }) => length))
    return Array.from({ length: longest }, (_, turn) => lines.flatMap(line => line.slice(turn, turn + 1))).flat()
  }
