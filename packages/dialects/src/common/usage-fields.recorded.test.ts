import { describe, expect, test } from 'vitest'
import { bedrockRecordings } from '../../test/bedrock-wire.ts'
import { recordings } from '../../test/recordings.ts'
import { usageFields as bedrock } from '../bedrock/wire.ts'
import { usageFields as chat } from '../chat/wire.ts'
import { usageFields as gemini } from '../gemini/wire.ts'
import { usageFields as messages } from '../messages/wire.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { usageFields as responses } from '../responses/wire.ts'
import type { UsageFields } from './usage-fields.ts'
import { usageFieldsOf } from './usage-fields.ts'

const tables: Readonly<Record<string, UsageFields>> = { bedrock, chat, gemini, messages, responses }

/** Every field of a usage block, by its path. Lists are one field; empty objects have none. */
const fieldsOf = (block: JsonObject, path = ''): readonly string[] =>
  Object.entries(block).flatMap(([field, value]) => (isObject(value) ? fieldsOf(value, `${path}${field}.`) : [path + field]))

/** The usage blocks in a payload, at any depth. */
function blocksIn(value: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(blocksIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([field, inner]) =>
    isObject(inner) && /^usage(Metadata)?$/.test(field) ? [inner] : blocksIn(inner),
  )
}

/** Whether a dialect reads the field, or an object that holds it, or leaves it out on purpose. */
const isKnown = (table: UsageFields, field: string): boolean => {
  const known = usageFieldsOf(table)
  const steps = field.split('.')
  return steps.some((_, at) => known.has(steps.slice(0, at + 1).join('.')))
}

const payload = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const unknownFields = (dialect: string, bodies: readonly (Json | undefined)[]): readonly string[] => [
  ...new Set(
    bodies
      .flatMap(blocksIn)
      .flatMap(block => fieldsOf(block))
      .filter(field => !isKnown(tables[dialect] as UsageFields, field)),
  ),
]

describe('a usage block that a vendor sent', () => {
  const all = [
    ...recordings.map(({ name, dialect, frames, whole }) => ({
      name,
      dialect,
      bodies: [...frames.map(({ data }) => payload(data)), whole],
    })),
    ...bedrockRecordings.map(({ name, frames }) => ({ name, dialect: 'bedrock', bodies: frames.map(({ data }) => payload(data)) })),
  ]
  test.each(all)('$name has only fields that are read, or left out on purpose', ({ dialect, bodies }) => {
    expect(unknownFields(dialect, bodies)).toEqual([])
  })
})
