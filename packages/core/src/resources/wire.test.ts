import { usd } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { routingDefaultsFields, settingsFields } from './settings.ts'
import { fromWire, toWire } from './wire.ts'

test.each([
  [settingsFields, { hedgeMaxExtraCost: usd(0.01) }, { hedge_max_extra_cost: 0.01 }],
  [routingDefaultsFields, { maxPrice: { input: usd(3), output: usd(0.000_001) } }, { max_price: { input: 3, output: 0.000_001 } }],
])('money without a suffix is microdollars in code and USD in JSON: %#', (fields, values, json) => {
  expect(toWire(fields, values)).toEqual(json)
  expect(fromWire({ fields, mode: 'update' }, json)).toEqual(values)
})
