// Every constant that tunes the router, in one place. docs/routing-constants.md says of each what it trades and how the loss moves
// when it is halved or doubled; `pnpm bench constants` measures that. Sizes of records and caps on memory stand where they are used.

/** How failures are believed: four states (usual, ailing, sick, dead), see `rate.ts`. */
const failures = {
  /** Before first content: share of calls that fail in each state, and the chance of each state where nothing is known. */
  beforeContent: { usual: 0.006, ailing: 0.08, sick: 0.3, dead: 0.96, chance: 0.003 },
  /** The same of answers that break off after first content. */
  afterContent: { usual: 0.001, ailing: 0.04, sick: 0.25, dead: 0.9, chance: 0.0004 },
  /** Milliseconds over which evidence about the state decays. */
  memoryMs: 600_000,
  /** Share of a belief that one call leaves standing at most: the next call may be the first of a fault. */
  maxKept: 0.995,
  /** The usual share is learned within this factor of its prior. */
  maxUsualFactor: 4,
  /** Calls that the usual share rests on. */
  usualMass: 3_000,
  /** A failure rate is high above this many times the usual prior. */
  highFactor: 5,
}

/** How long until first content, see `latency.ts`. */
const latency = {
  /** Milliseconds assumed for an offer without observations and without peers. */
  priorMs: 600,
  /** Variance of single answers around the level (natural log), and mean over level, before any answer. */
  priorScatter: 0.15,
  priorTail: 1.15,
  /** Answers that the prior distribution counts for, and the share of the past that one answer leaves in it. */
  priorWeight: 12,
  binDecay: 0.998,
  /** One answer counts in the mean as at most this many levels; the prior mean counts for so many answers, and at most so many are averaged. */
  maxTailFactor: 8,
  tailMass: 150,
  maxTailMass: 750,
  maxScatterMass: 150,
  /** Milliseconds over which a level returns to the long run, and over which the long run follows a level that rose. */
  relaxMs: 600_000,
  longRunMs: 3_600_000,
  /** Share by which an answer moves the long run, at most where the level rose. */
  longRunWeight: 0.01,
  /** Variance that a level gains per millisecond, and its maximum. */
  driftPerMs: 3e-7,
  maxVariance: 0.5,
  /** One answer moves the level as if it were at most this many deviations off. */
  maxDeviations: 2.5,
  /** Milliseconds from one rise of the level to the next, as assumed: the longer since the last answer, the likelier one is. */
  changeEveryMs: 900_000,
  /** Deviations above the level that are no evidence of a rise, and the least evidence that is enough. */
  riseSlack: 1,
  minRise: 1,
  /** Below the level by more than this many deviations an answer is far below; so many in a row are another level. */
  fallDeviations: 2,
  fallsInRow: 2,
  /** Chance that a raised level is over once its last answer was far below it. */
  settledChance: 0.8,
}

/** What a prompt adds to the wait, see `reading.ts`. */
const prefill = {
  /** Milliseconds a token before anything is known, and the squared tokens that this weighs. */
  priorMsPerToken: 0.03,
  priorMass: 15e6,
  maxMsPerToken: 2,
  decay: 0.98,
}

/** Weights of the newest observation in averages, and their priors. */
const averages = {
  /** Tokens a second. */
  priorSpeed: 60,
  speedWeight: 0.08,
  wholeSpeedWeight: 0.04,
  /** Milliseconds that a failed attempt takes, and the share of failures that were silent. */
  priorLostMs: 400,
  priorHung: 0.3,
  priorHungMass: 3,
  failureWeight: 0.15,
  /** Share of a warm prompt that really is read from the cache. */
  priorWarmth: 0.9,
  priorWarmthMass: 20,
  warmthWeight: 0.05,
  /** Tokens of an answer. */
  priorLength: 300,
  lengthWeight: 0.005,
  /** Answers shorter than this say little about speed. */
  minTokensForSpeed: 12,
}

/** When an offer that fails again and again is left alone, see `breaker.ts`. */
const breaker = {
  failuresToOpen: 4,
  /** Of an offer that is believed to fail more often than not. */
  failuresToOpenDoubted: 2,
  firstPauseMs: 2_000,
  pauseGrowth: 1.8,
  maxPauseMs: 25_000,
  successesToClose: 2,
}

/** Rate limits, see `capacity.ts`. */
const capacity = {
  /** Milliseconds over which the accepted rate is averaged. */
  windowMs: 8_000,
  /** Share of the accepted rate that a cap begins at after a 429, and its growth a second until the next. */
  capShare: 0.9,
  capGrowthPerSecond: 1.02,
  /** Requests a second: no cap is lower. */
  minCap: 0.05,
  /** A cap this many times above what is asked is dropped. */
  looseFactor: 6,
  /** Pause after a 429 without Retry-After, doubled each time, and its maximum. */
  firstHoldMs: 250,
  maxHoldMs: 5_000,
  /**
   * The congestion price, in costs of a typical request: a place that one request takes is a place that another lacks. Its rise a
   * second when nothing is free, the free share at which it neither rises nor falls, its maximum, and the seconds that count at most
   * between two calls.
   */
  priceRisePerSecond: 0.016,
  neutralFreeShare: 0.25,
  maxPrice: 4,
  maxPriceSeconds: 10,
}

/** Conversations, see `affinity.ts`. */
const conversations = {
  /** Prior: of so many requests, so many opened a conversation. */
  priorOpenings: 10,
  priorRequests: 30,
  priorGrowth: 400,
  decay: 0.9995,
  maxTurns: 12,
  growthWeight: 0.005,
}

/** What an offer looks like to a request, see `see.ts`. */
const estimate = {
  /** Answers after which an offer is known, and after which it is no newcomer. */
  knownAfter: 1,
  newcomerTries: 3,
  /** Optimism in standard deviations of the level: of two similar offers the less recently observed one is asked. */
  optimism: 0.6,
  /** Assumed speed-up (natural log) of an offer that was not observed for long, and of one observed fewer times than a newcomer has tries. */
  maxUnobservedSpeedup: 0.5,
  newcomerSpeedup: 0.35,
  /** Milliseconds after which an offer counts as unobserved. */
  unobservedMs: 400_000,
  /** Share of the queueing allowance for requests without a warm prompt: queueing delays all requests behind, and costs what the offer is better by. */
  coldQueueShare: 0.08,
  /** A whole answer that hangs costs this many times its usual length. */
  wholeHangFactor: 4,
  /** Prior odds that an offer has just changed, silent calls that are looked at, and how much longer (natural log) they will be silent. */
  changeOdds: 1e-3,
  maxSilentCalls: 8,
  silenceLasts: 0.3,
}

/** When an offer that is not the best is tried, see `probe.ts`. */
const exploration = {
  /** Milliseconds until an offer that could not win is looked at again. */
  recheckMs: 2_000,
  /** A level this far (natural log) above its long run has risen. */
  risenBy: 0.2,
  /** An unobserved offer that was tried is left alone for so long. */
  unobservedPauseMs: 25_000,
  /** Budget for unobserved offers: what a request adds, what is saved at most, what a try costs. */
  budgetPerRequest: 0.04,
  maxBudget: 2,
  tryPrice: 2,
  /** An offer must look better than the best by this share to be tried. */
  minGain: 0.02,
  /** Milliseconds left below which nothing is tried. */
  minLeftMs: 4_000,
}

/** When an attempt is given up, see `timeout.ts`. */
const timeouts = {
  /** Answers after which the longest of them are known. */
  knownAfter: 10,
  minStreamMs: 2_500,
  minDoubtedMs: 1_000,
  minWholeMs: 10_000,
  /** Times the 99.7th percentile. */
  patience: 2,
  /** Times the usual length of a whole answer. */
  lengthPatience: 10,
  /** Times the first-content time-out of an unknown offer, for its whole answer. */
  unknownWholeFactor: 4,
  /** Share of the time left that one attempt at a whole answer may take. */
  wholeShare: 0.55,
  /** An offer that leaves calls unanswered is given up once a hang is this many times likelier than a slow answer. */
  hangOdds: 4,
  /** Below this share of silent calls an offer is not doubted; a doubted one is still waited for by all but the other share. */
  minSilentShare: 0.003,
  maxSilentShare: 0.08,
}

/** When a second offer is asked beside a silent one, see `hedge.ts`. */
const hedging = { stepShare: 0.25 }

/** What a failure costs, see `loss.ts`. */
const loss = {
  /** Share of failed attempts whose request fails for good, and the part of it that does not depend on the offer. */
  failsForGood: 0.04,
  failsAnyway: 0.03,
  /** USD of the request at which the preferences hold as they stand. */
  typicalUsd: 0.002,
}

/** How long a request waits for an offer that is full, see `judge.ts`. */
const queueing = {
  maxMs: 2_000,
  share: 0.25,
  /** Where every offer is full. */
  maxLastResortMs: 8_000,
  lastResortShare: 0.5,
}

export const tuning = {
  failures,
  latency,
  prefill,
  averages,
  breaker,
  capacity,
  conversations,
  estimate,
  exploration,
  timeouts,
  hedging,
  loss,
  queueing,
} as const
