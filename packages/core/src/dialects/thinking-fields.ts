import type { Quirks } from '../protocol/model.ts'
import type { Effort } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { nearestEffort, unsupported } from './quirks.ts'

export interface WrittenThinking {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

/** How much thinking is wanted, in the words of a chat host: a named effort, else a switch of the host's own. */
export function writeThinking(effort: Effort | undefined, quirks: Quirks): WrittenThinking {
  if (effort === undefined) return { fields: {}, warnings: [] }
  const { efforts, thinking, thinking_switch: toggle } = quirks
  const canToggle = toggle !== undefined && (thinking?.includes('toggle') ?? true)
  if (canToggle && effort === 'none' && !efforts?.includes('none')) return { fields: toggle.off, warnings: [] }
  if (canToggle && thinking?.includes('level') === false) {
    const message = `Reasoning effort "${effort}" is not available here; thinking was switched on.`
    return { fields: toggle.on, warnings: [unsupported('reasoning.effort', message)] }
  }
  const near = nearestEffort(effort, efforts)
  return { fields: near.effort === undefined ? {} : { reasoning_effort: near.effort }, warnings: near.warnings }
}
