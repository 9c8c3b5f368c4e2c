import type { ToolChoice } from '../protocol/request.ts'
import { isObject } from '../protocol/wire.ts'
import { objects, stringOf } from './json.ts'

/** A tool choice that is limited to some of the tools. For dialects without it, the other tools are left out instead. */
export interface AllowedTools {
  readonly names: readonly string[]
  /** Whether one of them must be called. */
  readonly isForced: boolean
}

/** Reads an `allowed_tools` choice; undefined for any other. Chat Completions nests the fields, Responses does not. */
export function readAllowedTools(choice: ToolChoice | undefined): AllowedTools | undefined {
  if (typeof choice !== 'object' || choice.type !== 'native' || choice.body.type !== 'allowed_tools') return undefined
  const { mode, tools } = isObject(choice.body.allowed_tools) ? choice.body.allowed_tools : choice.body
  const names = objects(tools).map(tool => stringOf(tool.name) || stringOf(isObject(tool.function) ? tool.function.name : ''))
  return { names: names.filter(name => name !== ''), isForced: mode === 'required' }
}
