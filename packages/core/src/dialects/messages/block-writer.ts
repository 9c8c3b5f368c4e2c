import type { JsonObject } from '../../protocol/wire.ts'

// The brackets and numbers of blocks, which follow one another and never overlap.

/** How a block grows: the type of its deltas, and their field. */
interface Growth {
  readonly delta: string
  readonly field: string
}

export const growths = {
  text: { delta: 'text_delta', field: 'text' },
  thinking: { delta: 'thinking_delta', field: 'thinking' },
  input: { delta: 'input_json_delta', field: 'partial_json' },
} as const satisfies Record<string, Growth>

export interface BlockWriter {
  /** Closes what is open. */
  open(block: JsonObject, growth: Growth): void
  grow(text: string): void
  /** A delta of another kind than the one by which the block grows. */
  add(delta: JsonObject): void
  close(): void
  /** A block that is told at once. */
  whole(block: JsonObject): void
}

export function blockWriter(emit: (event: string, data: string) => void): BlockWriter {
  let index = 0
  let isOpen = false
  /** Everything of a delta before its text: the same for each of them, and there are thousands. */
  let head = ''

  const start = (content_block: JsonObject): void => {
    close()
    isOpen = true
    emit('content_block_start', JSON.stringify({ type: 'content_block_start', index, content_block }))
  }
  const add = (delta: JsonObject): void => {
    emit('content_block_delta', JSON.stringify({ type: 'content_block_delta', index, delta }))
  }
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    emit('content_block_stop', `{"type":"content_block_stop","index":${index++}}`)
  }

  return {
    open(block, { delta, field }) {
      start(block)
      head = `{"type":"content_block_delta","index":${index},"delta":{"type":"${delta}","${field}":`
    },
    grow(text) {
      emit('content_block_delta', `${head}${JSON.stringify(text)}}}`)
    },
    add,
    close,
    whole(block) {
      const { input } = block
      // The input of a tool is told after its block, wherever the tool runs; clients gather it there.
      const isTold = streamed.has(`${block.type}`) && typeof input === 'object'
      start(isTold ? { ...block, input: {} } : block)
      if (isTold) add({ type: growths.input.delta, [growths.input.field]: JSON.stringify(input) })
      close()
    },
  }
}

const streamed: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use'])
