import { jsonText } from '../common/stream-encoder.ts'
import type { Frame, Json, JsonObject } from '../protocol/wire.ts'

/** The type of deltas that extend a block, and the field that contains their text. */
interface BlockDelta {
  readonly type: string
  readonly field: string
}

export const blockDeltas = {
  text: { type: 'text_delta', field: 'text' },
  thinking: { type: 'thinking_delta', field: 'thinking' },
  input: { type: 'input_json_delta', field: 'partial_json' },
} as const satisfies Record<string, BlockDelta>

const serverTools: ReadonlySet<Json | undefined> = new Set(['server_tool_use', 'mcp_tool_use'])

/** Writes start, deltas and stop of content blocks. Blocks are numbered in order and never overlap. */
export class BlockWriter {
  readonly #emit: (frame: Frame) => void
  /** The number of the open block, or of the next one. */
  #index = 0
  #isOpen = false
  /** The text of a delta frame before its content, which is the same for every delta of a block. */
  #deltaPrefix = ''

  constructor(emit: (frame: Frame) => void) {
    this.#emit = emit
  }

  /** Starts a block, after closing the open one. `delta`: what extends it; undefined if nothing does. */
  open(content_block: JsonObject, delta?: BlockDelta): void {
    this.close()
    this.#isOpen = true
    const data = JSON.stringify({ type: 'content_block_start', index: this.#index, content_block })
    this.#emit({ event: 'content_block_start', data })
    if (delta) this.#deltaPrefix = `{"type":"content_block_delta","index":${this.#index},"delta":{"type":"${delta.type}","${delta.field}":"`
  }

  /** Appends text to the open block. */
  append(text: string): void {
    this.#emit({ event: 'content_block_delta', data: `${this.#deltaPrefix}${jsonText(text)}"}}` })
  }

  /** Writes a delta of another type than the one that extends the block. */
  writeDelta(delta: JsonObject): void {
    this.#emit({ event: 'content_block_delta', data: JSON.stringify({ type: 'content_block_delta', index: this.#index, delta }) })
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#emit({ event: 'content_block_stop', data: `{"type":"content_block_stop","index":${this.#index++}}` })
  }

  /** Writes a complete block. The input of a server tool is sent as deltas, because clients assemble it like that of their own tools. */
  write(block: JsonObject): void {
    const { input } = block
    const isInputStreamed = serverTools.has(block.type) && typeof input === 'object'
    this.open(isInputStreamed ? { ...block, input: {} } : block)
    if (isInputStreamed) this.writeDelta({ type: blockDeltas.input.type, [blockDeltas.input.field]: JSON.stringify(input) })
    this.close()
  }
}
