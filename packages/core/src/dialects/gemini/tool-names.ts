import type { Prompt } from '../../protocol/request.ts'
import { deriveCallId } from '../ids.ts'

// Tool names start with a letter or `_` and contain letters, digits and `_.:-`.

const maxLength = 64
const isValid = (name: string): boolean => name.length <= maxLength && /^[A-Za-z_][\w.:-]*$/.test(name)

const clean = (name: string): string => name.replaceAll(/[^\w.:-]/g, '_').replace(/^(?![A-Za-z_])/, '_')

export interface ToolNames {
  /** Client's name → name as sent. */
  readonly encode: (name: string) => string
  /** Names as sent → client's names, for those that differ. */
  readonly changed: ReadonlyMap<string, string>
}

/** A name is always encoded in the same way, so names stay the same throughout a conversation. */
export function toolNamesOf({ tools = [], input, tool_choice }: Prompt): ToolNames {
  const used = new Set<string>()
  for (const tool of tools) if (tool.type === 'function') used.add(tool.name)
  for (const item of input) if (item.type === 'function_call') used.add(item.name)
  if (typeof tool_choice === 'object' && tool_choice.type === 'function') used.add(tool_choice.name)
  const changed = new Map<string, string>()
  const sentNames = new Map<string, string>()
  for (const name of used) {
    if (isValid(name)) continue
    const plain = clean(name)
    const isFree = plain.length <= maxLength && !used.has(plain) && !changed.has(plain)
    const isTaken = (sent: string): boolean => used.has(sent) || changed.has(sent)
    let sent = isFree ? plain : withHash(plain, name)
    for (let attempt = 1; !isFree && isTaken(sent); attempt += 1) sent = withHash(plain, attempt, name)
    sentNames.set(name, sent)
    changed.set(sent, name)
  }
  return { encode: name => sentNames.get(name) ?? name, changed }
}

const hashLength = 8
const withHash = (plain: string, ...seed: readonly (string | number)[]): string =>
  `${plain.slice(0, maxLength - hashLength - 1)}_${deriveCallId(...seed).slice('call_'.length, 'call_'.length + hashLength)}`
