import type { Kinds } from '@signalbox/core/access'
import { expect, test } from 'vitest'
import { loosenedIn } from './bounds.ts'

type Workspace = Kinds['workspace']
const workspace = (more: Partial<Workspace>): Workspace =>
  ({ name: 'w', billing: 'prepaid', settings: {}, routing: {}, limits: {}, ...more }) as Workspace
const loosened = (before: Partial<Workspace>, after: Partial<Workspace>) =>
  loosenedIn({ kind: 'workspace', id: 'w', before: workspace(before), after: workspace(after) })
const reload = (more: object) => ({ autoReload: { enabled: true, target: 20, threshold: 5, ...more } }) as Partial<Workspace>

test.each<[string, Partial<Workspace>, Partial<Workspace>, readonly string[]]>([
  ['that is switched on', {}, reload({}), ['autoReload']],
  ['that is switched on again', reload({ enabled: false }), reload({}), ['autoReload']],
  ['to more', reload({}), reload({ target: 21 }), ['autoReload']],
  ['that comes sooner', reload({}), reload({ threshold: 6 }), ['autoReload']],
  ['that stays as it is', reload({}), reload({}), []],
  ['to less, and later', reload({}), reload({ target: 19, threshold: 4 }), []],
  ['that is switched off', reload({}), reload({ enabled: false, target: 99 }), []],
])('a reload of credit %s lets keys do more, or not: %#', (...[, before, after, fields]) => {
  expect(loosened(before, after)).toEqual(fields)
})

test('an unset data policy demands nothing, so setting one tightens and removing it loosens', () => {
  const policy = (dataPolicyRequired?: 'any' | 'no_training' | 'zdr') =>
    ({ settings: dataPolicyRequired ? { dataPolicyRequired } : {} }) as Partial<Workspace>
  expect(loosened(policy(), policy('any'))).toEqual([])
  expect(loosened(policy(), policy('no_training'))).toEqual([])
  expect(loosened(policy('no_training'), policy())).toEqual(['settings'])
  expect(loosened(policy('zdr'), policy('no_training'))).toEqual(['settings'])
})
