import type { Equivalent } from './equivalents.ts'

/** Judged one by one, by reading what follows from each. */
export const equivalents: readonly Equivalent[] = [
  {
    file: 'packages/storage-sql/src/sqlite/commit.ts',
    line: 'statements: parts.flatMap(([part, statements]) => (part.length > 0 ? statements() : [])),',
    operator: '> to >=',
    original: 'part.length > 0',
    reason: 'Over an empty list each of the statements changes no row, and the rows of statements are not read.',
  },
  {
    file: 'packages/dialects/src/bedrock/frames.ts',
    line: 'state.pending = at < bytes.length ? [bytes.slice(at)] : []',
    operator: 'condition to true',
    original: 'at < bytes.length',
    reason: 'A rest of no bytes is kept beside a pending size of 0, and joining it to what comes adds nothing.',
  },
  {
    file: 'packages/router/src/validate-input.ts',
    line: 'const start = name.slice(0, 100).toLowerCase()',
    operator: 'n + 1',
    original: '100',
    reason: 'No known name is longer than 50 characters, so one of 100 or more is never near enough to be suggested for.',
  },
  {
    file: 'packages/workspaces/src/byok/reseal.ts',
    line: 'const keysPerPage = 100',
    operator: 'n + 1',
    original: '100',
    reason: 'The size of a page that is read and sealed: pages of any size seal the same keys, and the sums are over all pages.',
  },
  {
    file: 'packages/storage-sql/src/sqlite/ledger-accounts.ts',
    line: 'const MAX_ACCOUNTS = 250',
    operator: 'n + 1',
    original: '250',
    reason: 'The size of a part of a long list: parts of any size remove the same accounts, and their numbers are added up.',
  },
  {
    file: 'packages/storage-memory/src/items.ts',
    line: 'if (totalBytes() <= maxTotalBytes) return',
    operator: 'condition to false',
    original: 'totalBytes() <= maxTotalBytes',
    reason: 'The loop goes on, but each workspace then removes up to its first wanted row, and within the bound every row is wanted.',
  },
]
