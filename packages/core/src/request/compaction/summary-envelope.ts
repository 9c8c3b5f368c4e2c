import { type ItemOwner, itemOwnerOf } from '../../access/caller.ts'
import type { KeyRing, SealContext } from '../../runtime/seal.ts'

// The summary of a conversation as clients carry it: `gwc1.`, then what the key ring makes of the text.

/** How a summary begins that this gateway has sealed. */
const summaryPrefix = 'gwc1.'

export const isSummaryEnvelope = (text: string): boolean => text.startsWith(summaryPrefix)

/** The owner, and what the envelope is for: no other secret under the same key opens as a summary. */
const sealPlace = (owner: ItemOwner): SealContext => ({
  purpose: 'compaction',
  workspaceId: owner.workspaceId,
  bound: `compaction\n${itemOwnerOf(owner)}`,
})

export const sealSummary = async (ring: KeyRing, owner: ItemOwner, summary: string): Promise<string> =>
  summaryPrefix + (await ring.seal(JSON.stringify(summary), sealPlace(owner)))

/** Undefined if it cannot be opened: altered, of another owner, or sealed with a key that is gone. */
export async function openSummary(ring: KeyRing, owner: ItemOwner, envelope: string): Promise<string | undefined> {
  const text = await ring.open(envelope.slice(summaryPrefix.length), sealPlace(owner))
  return text === undefined ? undefined : (JSON.parse(text) as string)
}
