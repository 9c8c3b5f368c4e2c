import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: {
    index: 'src/index.ts',
    admission: 'src/admission.ts',
    awaitable: 'src/awaitable.ts',
    breaker: 'src/breaker.ts',
    'outage-grace': 'src/outage-grace.ts',
    changes: 'src/changes.ts',
    compose: 'src/compose.ts',
    counters: 'src/counters.ts',
    items: 'src/items.ts',
    'owner-sizes': 'src/owner-sizes.ts',
    ledger: 'src/ledger.ts',
    records: 'src/records.ts',
    routing: 'src/routing.ts',
    settlement: 'src/settlement.ts',
    'usage-totals': 'src/usage-totals.ts',
    histogram: 'src/histogram.ts',
    faults: 'src/faults.ts',
    'similar-names': 'src/similar-names.ts',
    'option-table': 'src/option-table.ts',
  },
})
