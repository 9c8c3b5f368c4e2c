import { type ItemOwner, itemOwnerOf } from '../../access/caller.ts'
import type { KeyRing, SealContext } from '../../runtime/seal.ts'

// The summary of a conversation as clients store it: `gwc1.`, then the text sealed with the key ring.

/** Prefix of summaries that this gateway has sealed. */
const summaryPrefix = 'gwc1.'

export const isSummaryEnvelope = (text: string): boolean => text.startsWith(summaryPrefix)

/** The owner and the purpose of the envelope, so that no other secret sealed with the same key opens as a summary. */
const sealPlace = (owner: ItemOwner): SealContext => ({
  purpose: 'compaction',
  workspaceId: owner.workspaceId,
  bound: `compaction\n${itemOwnerOf(owner)}`,
})

export const sealSummary = async (ring: KeyRing, owner: ItemOwner, summary: string): Promise<string> =>
  summaryPrefix + (await ring.seal(JSON.stringify(summary), sealPlace(owner)))

/** Returns undefined if it cannot be opened: it was altered, has another owner, or was sealed with a key that is no longer configured. */
export async function openSummary(ring: KeyRing, owner: ItemOwner, envelope: string): Promise<string | undefined> {
  const text = await ring.open(envelope.slice(summaryPrefix.length), sealPlace(owner))
  return text === undefined ? undefined : (JSON.parse(text) as string)
}
