export { Lanes } from './lanes.ts'
export { type StrategyName, safeStrategies, strategies } from './strategies.ts'
export { createCandidateTracker } from './tracked-offers.ts'
