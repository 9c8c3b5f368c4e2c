export { createOutputPaces } from './hidden-tokens.ts'
export { SettlementQueue } from './settlement-queue.ts'
export { createUsageDrains } from './usage-drains.ts'
export { createUsageNotices } from './usage-notices.ts'
