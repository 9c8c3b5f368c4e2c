import type { Prompt } from '../../protocol/request.ts'
import { deriveCallId } from '../ids.ts'

// Names of tools: a letter or `_`, then letters, digits and `_.:-`, 64 in all.

const longest = 64
const isTaken = (name: string): boolean => name.length <= longest && /^[A-Za-z_][\w.:-]*$/.test(name)

const clean = (name: string): string => name.replaceAll(/[^\w.:-]/g, '_').replace(/^(?![A-Za-z_])/, '_')

export interface Names {
  /** As it is sent. */
  readonly sent: (name: string) => string
  /** As sent → as the caller knows it, for those that differ. */
  readonly changed: ReadonlyMap<string, string>
}

/** The same name always becomes the same, whatever stands beside it, so that a conversation keeps its names. */
export function namesIn({ tools = [], input, tool_choice }: Prompt): Names {
  const used = new Set<string>()
  for (const tool of tools) if (tool.type === 'function') used.add(tool.name)
  for (const item of input) if (item.type === 'function_call') used.add(item.name)
  if (typeof tool_choice === 'object' && tool_choice.type === 'function') used.add(tool_choice.name)
  const changed = new Map<string, string>()
  const written = new Map<string, string>()
  for (const name of used) {
    if (isTaken(name)) continue
    const plain = clean(name)
    const short = plain.length <= longest && !used.has(plain) && !changed.has(plain) ? plain : withMark(plain, name)
    written.set(name, short)
    changed.set(short, name)
  }
  return { sent: name => written.get(name) ?? name, changed }
}

/** Told apart from others of the same beginning by a hash of the whole. */
const withMark = (plain: string, name: string): string => `${plain.slice(0, longest - 9)}_${deriveCallId(name).slice(5, 13)}`
