import { requiresInlineMedia } from '@signalbox/dialects/common'
import type { MediaNeed } from './media-needs.ts'
import type { RoutingQuery } from './needs.ts'
import { lacksAbility } from './offer-facts.ts'
import type { Candidate } from './plan.ts'

// Images, files and audio that an offer does not support. Parts of a conversation are never dropped, so such an offer is excluded.

interface MediaRule {
  /** `readsMedia`: whether the gateway downloads URLs for providers that take only bytes. */
  readonly refuses: (need: MediaNeed, candidate: Candidate, readsMedia: boolean) => boolean
  readonly reason: (need: MediaNeed) => string
  readonly suggestion: string
}

const nouns = { image: 'images', file: 'files', audio: 'audio' } as const
const each = { image: 'an image', file: 'a file', audio: 'audio' } as const
const places = {
  user: 'user messages',
  assistant: 'assistant messages',
  system: 'system messages',
  tool: 'tool results',
} as const

/** Applies a rule only to media from another dialect: media in the provider's own dialect is sent unchanged. */
const foreign =
  (refuses: MediaRule['refuses']): MediaRule['refuses'] =>
  (need, candidate, readsMedia) =>
    need.dialect !== candidate.offer.api && refuses(need, candidate, readsMedia)

const orElse = (instead: string): string => `${instead}, or choose a model that supports it.`

const takesNone = ({ kind, param }: MediaNeed): string => `it does not support ${nouns[kind]}, and \`${param}\` is ${each[kind]}`

/** In order: the first rule that applies gives the reason. */
const mediaRules: readonly MediaRule[] = [
  {
    refuses: ({ kind }, candidate) => kind === 'image' && lacksAbility(candidate, 'vision'),
    reason: takesNone,
    suggestion: orElse('Describe it as text'),
  },
  {
    // A text file is sent as text.
    refuses: ({ kind, type }, { quirks }) => kind === 'file' && quirks.files === false && !type?.type.startsWith('text/'),
    reason: takesNone,
    suggestion: orElse('Send its text'),
  },
  {
    refuses: ({ kind }, { quirks, dialect }) => kind === 'audio' && (quirks.audio === false || dialect?.fidelity?.audio === 'refused'),
    reason: takesNone,
    suggestion: orElse('Send a transcript as text'),
  },
  {
    refuses: ({ kind, form }, { quirks, dialect }, readsMedia) =>
      form === 'address' && kind !== 'audio' && !readsMedia && requiresInlineMedia(kind, quirks, dialect),
    reason: ({ kind, param }) => `it only accepts ${nouns[kind]} as base64 data, and \`${param}\` is the URL of ${each[kind]}`,
    suggestion: orElse('Send the data instead of the URL'),
  },
  {
    refuses: foreign(({ place }, { dialect }) => dialect?.media !== undefined && !dialect.media.places.includes(place)),
    reason: ({ place, param, kind }) => `it only accepts text in ${places[place]}, and \`${param}\` is ${each[kind]}`,
    suggestion: orElse('Move it to a user message'),
  },
  {
    refuses: foreign(({ kind, form, type }, { dialect }) => {
      const takes = kind === 'audio' ? undefined : dialect?.media?.[kind]
      return form === 'bytes' && takes !== undefined && !(type && takes(type))
    }),
    reason: ({ kind, param, type }) =>
      `it does not support ${each[kind]} ${type ? `of the type "${type.type}"${type.isBase64 ? '' : ' that is not base64-encoded'}` : 'without a type'}, as \`${param}\` is`,
    suggestion: orElse('Send it base64-encoded and in a common format, such as PNG, JPEG, PDF or plain text'),
  },
]

export interface RefusedMedia {
  readonly param: string
  readonly reason: string
  readonly suggestion: string
}

/** The first part of the request that the candidate does not support. Undefined if it supports all. */
export function refusedMedia(candidate: Candidate, { needs, readsMedia }: RoutingQuery): RefusedMedia | undefined {
  for (const need of needs.media) {
    const rule = mediaRules.find(({ refuses }) => refuses(need, candidate, readsMedia))
    if (rule) return { param: need.param, reason: rule.reason(need), suggestion: rule.suggestion }
  }
  return undefined
}
