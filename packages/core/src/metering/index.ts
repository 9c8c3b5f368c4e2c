export { createOutputPaces } from './hidden-tokens.ts'
export { createSettlements, type Settlements } from './settlements.ts'
export { createUsageDrains } from './usage-drains.ts'
export { createUsageNotices } from './usage-notices.ts'
