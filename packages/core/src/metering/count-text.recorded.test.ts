import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isObject } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { recordings } from '../../../dialects/test/recordings.ts'
import { tokensOf } from './count-text.ts'

/** The repository itself: code, English and JSON of every length, not written for this test. */
const testbed = resolve(import.meta.dirname, '../../../..')
const _text = (path: string): string => readFileSync(join(testbed, path), 'utf8')

test('answers that providers counted are estimated within a tenth of their count, where all of them is text', () => {
  const counted = recordings.flatMap(({ name, whole }) => {
    const [choice] = Array.isArray(whole?.choices) ? whole.choices : []
    const text = isObject(choice) && isObject(choice.message) && !choice.message.reasoning && !choice.message.tool_calls && choice.message
    const tokens = isObject(whole?.usage) ? whole.usage.completion_tokens : undefined
    return text && typeof text.content === 'string' && !text.reasoning_content && typeof tokens === 'number' && tokens > 100
      ? [{ name, ratio: tokensOf([text.content]) / tokens }]
      : []
  })
  expect(counted.length).toBeGreaterThanOrEqual(4)
  expect(counted.filter(({ ratio }) => Math.abs(ratio - 1) > 0.1)).toEqual([])
})
