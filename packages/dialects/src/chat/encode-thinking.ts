import { nearestEffort, unsupported } from '../common/apply-quirks.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Effort, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'

interface EncodedThinking {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

/** Encodes the reasoning effort of a prompt. `tools`: its encoded tools, which some models do not accept beside an effort. */
export function encodeThinking({ reasoning }: Prompt, tools: JsonObject, quirks: Quirks): EncodedThinking {
  const effort = reasoning?.effort
  if (!quirks.effortWithoutTools || !tools.tools || effort === undefined || effort === 'none') return writeThinking(effort, quirks)
  const warning = unsupported(
    'reasoning.effort',
    'This model does not support tools together with `reasoning.effort`; the effort was set to "none".',
  )
  return { fields: { reasoning_effort: 'none' }, warnings: [warning] }
}

/** The reasoning effort in the fields of a chat host: a named effort, or else the host's own switch. */
export function writeThinking(effort: Effort | undefined, quirks: Quirks): EncodedThinking {
  if (effort === undefined) return { fields: {}, warnings: [] }
  const { efforts, thinking, thinkingOff, thinkingSwitch } = quirks
  const toggle = thinking?.includes('toggle') === false ? undefined : thinkingSwitch
  if (toggle && effort === 'none' && thinkingOff !== 'never' && !efforts?.includes('none')) return { fields: toggle.off, warnings: [] }
  if (toggle && thinking?.includes('level') === false) return { fields: toggle.on, warnings: [unsaid(effort)] }
  const near = nearestEffort(effort, efforts)
  return { fields: near.effort === undefined ? {} : { reasoning_effort: near.effort }, warnings: near.warnings }
}

const unsaid = (effort: Effort): Warning =>
  unsupported(
    'reasoning.effort',
    effort === 'none'
      ? 'This model cannot turn thinking off; it was left on.'
      : `Reasoning effort "${effort}" is not supported by this model; thinking was turned on.`,
  )
