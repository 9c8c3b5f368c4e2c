import { emitFrame, jsonText } from '../common/stream-encoder.ts'
import type { Frame, Json, JsonObject } from '../protocol/wire.ts'

// Writes start, deltas and stop of content blocks. Blocks are numbered in order and never overlap.

export interface BlockOutput {
  frames: readonly Frame[]
  /** The number of the open block, or of the next one. */
  blockIndex: number
  isBlockOpen: boolean
  /** The text of a delta frame before its content, which is the same for every delta of a block. */
  deltaPrefix: string
}

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

/** Starts a block, after closing the open one. */
export function openBlock(output: BlockOutput, block: JsonObject, { type, field }: BlockDelta): void {
  startBlock(output, block)
  output.deltaPrefix = `{"type":"content_block_delta","index":${output.blockIndex},"delta":{"type":"${type}","${field}":"`
}

function startBlock(output: BlockOutput, content_block: JsonObject): void {
  closeBlock(output)
  output.isBlockOpen = true
  const data = JSON.stringify({ type: 'content_block_start', index: output.blockIndex, content_block })
  emitFrame(output, { event: 'content_block_start', data })
}

/** Appends text to the open block. */
export function appendToBlock(output: BlockOutput, text: string): void {
  emitFrame(output, { event: 'content_block_delta', data: `${output.deltaPrefix}${jsonText(text)}"}}` })
}

/** Writes a delta of another type than the one that extends the block. */
export function writeDelta(output: BlockOutput, delta: JsonObject): void {
  emitFrame(output, {
    event: 'content_block_delta',
    data: JSON.stringify({ type: 'content_block_delta', index: output.blockIndex, delta }),
  })
}

export function closeBlock(output: BlockOutput): void {
  if (!output.isBlockOpen) return
  output.isBlockOpen = false
  emitFrame(output, { event: 'content_block_stop', data: `{"type":"content_block_stop","index":${output.blockIndex++}}` })
}

/** Writes a complete block. The input of a server tool is sent as deltas, because clients assemble it like that of their own tools. */
export function writeBlock(output: BlockOutput, block: JsonObject): void {
  const { input } = block
  const isInputStreamed = serverTools.has(block.type) && typeof input === 'object'
  startBlock(output, isInputStreamed ? { ...block, input: {} } : block)
  if (isInputStreamed) writeDelta(output, { type: blockDeltas.input.type, [blockDeltas.input.field]: JSON.stringify(input) })
  closeBlock(output)
}

const serverTools: ReadonlySet<Json | undefined> = new Set(['server_tool_use', 'mcp_tool_use'])
