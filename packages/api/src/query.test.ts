import { GatewayError } from '@signalbox/dialects/errors'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type QueryParameter, readQuery, timeOf } from './query.ts'

const known: readonly QueryParameter[] = [{ name: 'from', description: 'Since then.', date: true }]
const read = (text: string): number | undefined => timeOf(readQuery(known, `from=${encodeURIComponent(text)}`).from)

test.each([
  ['2026-01-31', Date.UTC(2026, 0, 31)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
  ['2026-01-31T12:30Z', Date.UTC(2026, 0, 31, 12, 30)],
  ['2026-01-31T12:30:15Z', Date.UTC(2026, 0, 31, 12, 30, 15)],
  ['2026-01-31T12:30:15.250Z', Date.UTC(2026, 0, 31, 12, 30, 15, 250)],
])('%s is a time of UTC', (text, at) => expect(read(text)).toBe(at))

test.each([
  '',
  '2026',
  '2026-1-31',
  '2026-02-29',
  '2026-13-01',
  '2026-01-31T12:30',
  '2026-01-31T12:30:00+02:00',
  '2026-01-31T24:00Z',
  '2026-01-31T12:60Z',
  '+002026-01-31',
  '1767225600000',
  ' 2026-01-31',
  '2026-01-31\n',
  'today',
])('%j is not a time', text => {
  expect(() => read(text)).toThrow(GatewayError)
  expect(() => read(text)).toThrow('"from"')
})

test('every time is parsed as it is written', () => {
  const moment = fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
  fc.assert(
    fc.property(moment, date => {
      expect(read(date.toISOString())).toBe(date.getTime())
    }),
  )
})
