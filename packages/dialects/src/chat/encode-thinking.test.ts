import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyDraft } from '../common/body-draft.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Effort } from '../protocol/request.ts'
import { encodeEffort } from './encode-request.ts'

const ladder = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const effort = fc.constantFrom<Effort>(...ladder)
const known = fc.subarray([...ladder])

function effortFields(wanted: Effort | undefined, quirks: Quirks): Pick<BodyDraft, 'warnings'> & { readonly fields: BodyDraft['body'] } {
  const draft = new BodyDraft(quirks)
  encodeEffort(wanted, draft)
  return { fields: draft.body, warnings: draft.warnings }
}

test('an effort is replaced by the nearest supported one, with a warning only then', () => {
  fc.assert(
    fc.property(effort, known, (wanted, efforts) => {
      const draft = new BodyDraft({})
      const near = draft.nearestEffort(wanted, efforts)
      expect(efforts).toEqual(efforts.length === 0 ? [] : expect.arrayContaining([near]))
      expect(draft.warnings).toHaveLength(near === wanted ? 0 : 1)
    }),
  )
})

test('a low effort does not become none, unless the model supports nothing else', () => {
  fc.assert(
    fc.property(effort, known, (wanted, efforts) => {
      const thinks = efforts.some(each => each !== 'none')
      expect(new BodyDraft({}).nearestEffort(wanted, efforts) === 'none').toBe(efforts.includes('none') && (wanted === 'none' || !thinks))
    }),
  )
})

test('a host receives an effort or a switch, never both', () => {
  const thinkingSwitch = { on: { think: true }, off: { think: false } }
  const style = fc.constantFrom('level', 'toggle', 'budget')
  fc.assert(
    fc.property(
      effort,
      fc.option(known, { nil: undefined }),
      fc.option(fc.uniqueArray(style), { nil: undefined }),
      (wanted, efforts, thinking) => {
        const quirks = { thinkingSwitch, ...(efforts && { efforts }), ...(thinking && { thinking }) }
        const { fields, warnings } = effortFields(wanted, quirks)
        expect(Object.keys(fields).length).toBeLessThanOrEqual(1)
        if (fields.think === false) expect(wanted).toBe('none')
        if (fields.think === true) expect(warnings).toHaveLength(1)
        if (fields.reasoning_effort === wanted) expect(warnings).toEqual([])
      },
    ),
  )
})

test.each([
  ['none', { thinking: ['toggle'] }, { think: false }, 0],
  ['none', { thinking: ['level'], efforts: ['none', 'low'] }, { reasoning_effort: 'none' }, 0],
  ['high', { thinking: ['toggle'] }, { think: true }, 1],
  ['high', { efforts: ['low', 'high'] }, { reasoning_effort: 'high' }, 0],
  ['high', { efforts: ['low'] }, { reasoning_effort: 'low' }, 1],
] as const)('effort %s for a host that supports %j becomes %j, with %i warnings', (wanted, quirks, ...expected) => {
  const { fields, warnings } = effortFields(wanted, { thinkingSwitch: { on: { think: true }, off: { think: false } }, ...quirks })
  expect([fields, warnings.length]).toEqual(expected)
})

test('no field is sent if the request has none', () => {
  expect(effortFields(undefined, { efforts: ['high'] })).toEqual({ fields: {}, warnings: [] })
})
