import { expect, test } from 'vitest'
import { recordings } from '../../test/recordings.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { originalOf } from '../protocol/original.ts'
import type { Frame } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'

// A decoder forgets its template at each frame that it decodes, so a stream with an empty frame after each frame is decoded without any.

const emptyFrame: Frame = { data: '' }
const described = (events: readonly InferenceEvent[]): unknown => events.map(event => [event, originalOf(event)?.body])

test.each(recordings)('$name is decoded the same with templates and without', ({ dialect, frames }) => {
  const decode = (sent: readonly Frame[]): unknown => {
    const decoder = providerDialects[dialect].decodeEvents({ answerTool: 'answer' })
    return described([...sent.flatMap(frame => decoder.read([frame])), ...decoder.end()])
  }
  expect(decode(frames)).toEqual(decode(frames.flatMap(frame => [frame, emptyFrame])))
})
