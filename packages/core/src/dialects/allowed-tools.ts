import type { ToolChoice } from '../protocol/request.ts'
import { isObject } from '../protocol/wire.ts'
import { objects, stringOf } from './json.ts'

/** A choice among some of the tools of a request. Dialects without such a choice leave out the other tools instead. */
export interface AllowedTools {
  readonly names: readonly string[]
  /** One of them must be called. */
  readonly isForced: boolean
}

/** Undefined for a choice of another type. The Chat Completions API nests the fields, the Responses API does not. */
export function readAllowedTools(choice: ToolChoice | undefined): AllowedTools | undefined {
  if (typeof choice !== 'object' || choice.type !== 'native' || choice.body.type !== 'allowed_tools') return undefined
  const { mode, tools } = isObject(choice.body.allowed_tools) ? choice.body.allowed_tools : choice.body
  const names = objects(tools).map(tool => stringOf(tool.name) || stringOf(isObject(tool.function) ? tool.function.name : ''))
  return { names: names.filter(name => name !== ''), isForced: mode === 'required' }
}
