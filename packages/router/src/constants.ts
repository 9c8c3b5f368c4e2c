// Every constant that tunes the router. packages/bench/ROUTING-CONSTANTS.md states the trade-off of each, and how regret changes when it is halved or
// doubled; `pnpm bench constants` measures that. Sizes of records and memory limits are defined where they are used.

/** The failure model: health states (healthy, degraded, failing, down, long prompts fail), see `failure-model.ts`. */
const failures = {
  /** Before first content: share of calls that fail in each state, and the prior probability of each unhealthy state. */
  beforeContent: { baseline: 0.006, degraded: 0.08, failing: 0.3, down: 0.96, prior: 0.003 },
  /** The same for streams that break after first content. */
  afterContent: { baseline: 0.001, degraded: 0.04, failing: 0.25, down: 0.9, prior: 0.0004 },
  /** Time over which evidence about the state decays, in milliseconds. */
  evidenceDecayMs: 600_000,
  /** Largest share of the evidence that survives one call: the next call may be the first of a fault. */
  maxEvidenceKept: 0.995,
  /** Prior probability of each state in which only prompts above a limit fail, and the smallest such limit in tokens. */
  promptLimitPrior: 0.0005,
  minPromptLimit: 1_000,
  /** The baseline is learned within this factor of its prior. */
  maxBaselineFactor: 4,
  /** Calls that the baseline is averaged over. */
  baselineCalls: 3_000,
  /** A failure rate is high above this many times the prior baseline. */
  highRateFactor: 5,
}

/** Milliseconds to first content, see `latency.ts`. */
const latency = {
  /** Milliseconds assumed for an offer without observations and without peers. */
  priorMs: 600,
  /** Variance of single answers around the level (natural log), and mean over level, before any answer. */
  priorScatter: 0.15,
  priorTail: 1.15,
  /** Answers that the prior histogram counts for, and the share of the histogram that remains after each answer. */
  priorAnswers: 12,
  histogramDecay: 0.998,
  /**
   * One answer counts in the mean as at most this many levels; answers that the prior mean counts for; largest number of answers
   * averaged, for the mean and for the scatter.
   */
  maxSlowdownFactor: 8,
  priorTailAnswers: 150,
  maxTailAnswers: 750,
  maxScatterAnswers: 150,
  /** Milliseconds in which a level returns to the long run, and in which the long run follows a raised level. */
  returnToLongRunMs: 600_000,
  longRunFollowMs: 3_600_000,
  /** Share by which an answer moves the long run; less while the level is raised. */
  longRunWeight: 0.01,
  /** Variance that a level gains per millisecond, and its maximum. */
  variancePerMs: 3e-7,
  maxVariance: 0.5,
  /** One answer moves the level as if it were at most this many deviations off. */
  maxDeviations: 2.5,
  /** Assumed milliseconds between two rises of the level: the longer since the last answer, the likelier a rise. */
  expectedRiseIntervalMs: 900_000,
  /** Deviations above the level that are no evidence of a rise, and the least evidence that is enough. */
  riseSlackDeviations: 1,
  minRiseEvidence: 1,
  /** Answers below the level by more than this many deviations are far below; this many in a row mean another level. */
  fallDeviations: 2,
  fallsToAccept: 2,
  /** Probability that a raised level is over if its last answer was far below it. */
  recoveredAfterFall: 0.8,
}

/** Latency per prompt token, see `prefill-latency.ts`. */
const prefill = {
  /** Milliseconds per token before any observation, and the squared tokens that this prior counts for. */
  priorMsPerToken: 0.03,
  priorSquaredTokens: 15e6,
  maxMsPerToken: 2,
  observationDecay: 0.98,
}

/** Weights of the newest observation in running averages, and their priors. */
const averages = {
  /** Tokens per second. */
  priorTokensPerSecond: 60,
  speedWeight: 0.08,
  wholeAnswerSpeedWeight: 0.04,
  /** Milliseconds that a failed attempt takes, and the share of failures that were silent. */
  priorFailureMs: 400,
  priorHangShare: 0.3,
  priorHangFailures: 3,
  failureWeight: 0.15,
  /** Share of an expected cache hit that really is one, in tokens. */
  priorCacheHitShare: 0.9,
  priorCacheReads: 20,
  cacheHitWeight: 0.05,
  /** Tokens of an answer. */
  priorAnswerTokens: 300,
  answerLengthWeight: 0.005,
  /** Shorter answers say little about speed. */
  minTokensForSpeed: 12,
}

/** The circuit breaker, see `circuit-breaker.ts`. */
const circuitBreaker = {
  failuresToOpen: 4,
  /** For an offer whose failure probability is above one half. */
  failuresToOpenUnreliable: 2,
  firstPauseMs: 2_000,
  pauseGrowth: 1.8,
  maxPauseMs: 25_000,
  successesToClose: 2,
}

/** Rate limits and congestion, see `capacity.ts`. */
const capacity = {
  /** Milliseconds over which the accepted rate is averaged. */
  acceptedRateWindowMs: 8_000,
  /** Learned limit after a 429, as a share of the accepted rate; the least share of a known limit that one 429 leaves; growth per second. */
  limitShareAfter429: 0.9,
  leastLimitShareKept: 0.8,
  limitGrowthPerSecond: 1.02,
  /** Requests per second: no learned limit is lower. */
  minLimitPerSecond: 0.05,
  /** A learned limit this many times above the accepted rate is dropped. */
  dropLimitFactor: 6,
  /** Pause after a 429 without Retry-After, doubled each time, and its maximum. */
  first429PauseMs: 250,
  max429PauseMs: 5_000,
  /**
   * The congestion price, in costs of a typical request: a slot taken by one request is not free for another. Its rise per second
   * when nothing is free, the free share at which it neither rises nor falls, its maximum, and the largest time between two calls
   * that counts.
   */
  congestionRisePerSecond: 0.016,
  neutralFreeShare: 0.25,
  maxCongestionPrice: 4,
  maxCongestionSeconds: 10,
}

/** Conversations and prompt caches, see `cache-affinity.ts`. */
const conversations = {
  /** Prior: of this many requests, this many opened a conversation. */
  priorOpenings: 10,
  priorRequests: 30,
  priorTurnGrowth: 400,
  requestDecay: 0.9995,
  maxTurns: 12,
  turnGrowthWeight: 0.005,
}

/** Estimates, see `estimate.ts`. */
const estimate = {
  /** Answers after which an offer is known, and after which it is no newcomer. */
  knownAfterAnswers: 1,
  newcomerTries: 3,
  /** Optimism in standard deviations of the level (as in UCB): of two similar offers the less recently observed one is tried. */
  optimismDeviations: 0.6,
  /** Assumed speed-up (natural log) of an offer that was not observed for long, and of a newcomer. */
  maxUnobservedSpeedup: 0.5,
  newcomerSpeedup: 0.35,
  /** Milliseconds after which an offer counts as unobserved. */
  unobservedMs: 400_000,
  /**
   * Share of the queueing allowance for requests without a warm prompt: queueing delays all requests behind, and costs what the
   * offer is better by.
   */
  coldQueueShare: 0.08,
  /** A non-streamed response that hangs costs this many times its usual length. */
  wholeHangFactor: 4,
  /**
   * Prior odds that an offer has just become slower, silent calls that are considered, and how much longer (natural log) they are
   * assumed to stay silent.
   */
  priorChangeOdds: 1e-3,
  maxSilentCalls: 8,
  remainingSilence: 0.3,
}

/** Exploration, see `exploration.ts`. */
const exploration = {
  /** Milliseconds until an offer that could not win is considered again. */
  recheckMs: 2_000,
  /** A level this far (natural log) above its long run is slow. */
  slowAbove: 0.2,
  /** Milliseconds between two trials of an unobserved offer. */
  unobservedPauseMs: 25_000,
  /** Budget for unobserved offers: what each request adds, the maximum saved, and the cost of a trial. */
  budgetPerRequest: 0.04,
  maxBudget: 2,
  trialCost: 2,
  /** An offer must score better than the best by this share to be tried. */
  minGain: 0.02,
  /** No exploration with less time left, in milliseconds. */
  minLeftMs: 4_000,
}

/** Attempt timeouts, see `timeout.ts`. */
const timeouts = {
  /** Answers after which the tail of the latency is known. */
  tailKnownAfter: 10,
  minStreamMs: 2_500,
  minUnreliableMs: 1_000,
  minWholeAnswerMs: 10_000,
  /** Timeout of a stream, in 99.7th percentiles of its offer. */
  tailFactor: 2,
  /** Timeout of a whole answer, in usual generation times, beyond the wait for its first token. */
  wholeAnswerFactor: 10,
  /** Timeout of a whole answer of an unknown offer, in new-offer timeouts. */
  unknownWholeAnswerFactor: 4,
  /** Share of the time left that one attempt at a whole answer may take. */
  wholeAnswerShare: 0.55,
  /** A silent call is abandoned once a hang is this many times likelier than a slow answer. */
  hangToSlowOdds: 4,
  /** Hang share below which an offer counts as reliable, and the largest share of slow answers that may be given up with the hangs. */
  minHangShare: 0.003,
  maxGiveUpShare: 0.08,
}

/**
 * When to send a second call while the first is silent, see `hedge-delay.ts`: the delay is searched in steps of this share of the usual
 * wait.
 */
const hedging = { stepShare: 0.25 }

/** The cost of a failed attempt, see `score.ts`. */
const score = {
  /** Share of failed attempts whose request fails in the end, and the part of it that does not depend on the offer. */
  finalFailureShare: 0.04,
  baseFinalFailure: 0.03,
  /** Cost of the request for which the preference prices are used unscaled, in USD. */
  typicalRequestUsd: 0.002,
}

/** How long a request waits for a rate-limited offer, see `choose-offer.ts`. */
const queueing = {
  maxQueueMs: 2_000,
  timeLeftShare: 0.25,
  /** When every offer is full: how many times a second of queueing counts, and the longest queue as a share of the remaining time. */
  waitingWeight: 5,
  lastResortTimeLeftShare: 0.5,
}

export const tuning = {
  failures,
  latency,
  prefill,
  averages,
  circuitBreaker,
  capacity,
  conversations,
  estimate,
  exploration,
  timeouts,
  hedging,
  score,
  queueing,
} as const
