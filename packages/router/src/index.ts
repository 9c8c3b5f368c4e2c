export type { ChoiceReason } from './decision-log/records.ts'
export { createDynamicRouter, type DynamicRouter, type DynamicRouterOptions } from './dynamic-router.ts'
export type { OfferPrice, RouterOffer } from './offer.ts'
export type { OfferEstimate, Strategy } from './offer-estimate.ts'
export type { TrackedOffer } from './offer-state.ts'
export { type Preference, type PreferencePrices, preferences } from './preferences.ts'
export { createRandom, randomSeed } from './random.ts'
export { createRouter } from './router.ts'
export type {
  AnswerUsage,
  AttemptFailure,
  Recorded,
  Router,
  RouterAttempt,
  RouterChoice,
  RouterOptions,
  RouterPlan,
  RouterRequest,
} from './types.ts'
