import type { Item, Prompt, Warning } from '@signalbox/dialects/protocol'
import type { EventBatch } from '../../upstream/event-batches.ts'

/** Finds tool calls in a response that the request did not allow. They are sent with a warning. */
export interface CallWatch {
  look(batch: EventBatch): void
  /** The same for complete items. */
  lookAt(items: readonly Item[]): void
  /** One warning for each kind of call found so far. */
  warnings(): readonly Warning[]
}

/** Maximum number of names in one warning. */
const maxListedNames = 5

/** Undefined if the request has no tools. Hosted tools may add functions with any name, so together with one, every name is allowed. */
export function watchCalls({ tools = [], parallel_tool_calls }: Prompt): CallWatch | undefined {
  if (tools.length === 0) return undefined
  const offered = tools.every(tool => tool.type === 'function') ? new Set(tools.map(({ name }) => name)) : undefined
  const strange = new Set<string>()
  let calls = 0
  const lookAtItem = (item: Item): void => {
    if (item.type !== 'function_call') return
    calls += 1
    if (offered && !offered.has(item.name) && strange.size < maxListedNames) strange.add(item.name)
  }
  return {
    look: batch => {
      for (const event of batch) if (event.type === 'item_finished') lookAtItem(event.item)
    },
    lookAt: items => items.forEach(lookAtItem),
    warnings: () => [
      ...(strange.size > 0 ? [notOffered([...strange])] : []),
      ...(calls > 1 && parallel_tool_calls === false ? [inParallel(calls)] : []),
    ],
  }
}

const notOffered = (names: readonly string[]): Warning => ({
  code: 'tool_not_offered',
  message: `The model called ${names.map(name => JSON.stringify(name.slice(0, 100))).join(', ')}, which is not in the tools of the request.`,
  param: 'tools',
})

const inParallel = (calls: number): Warning => ({
  code: 'parallel_tool_calls_ignored',
  message: `The model made ${calls} tool calls at once, though \`parallel_tool_calls\` is false.`,
  param: 'parallel_tool_calls',
})
