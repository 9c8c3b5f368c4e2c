/** A row of a table, with the name that a failure gives it. */
export type NamedRow<Row> = readonly [name: string, row: Row]

/**
 * Checks each row of a table, for checks that cost less than a test of each row would. Rows after one that failed are checked too.
 *
 * @param atOnce How many rows are checked at the same time. Default: 1.
 * @throws An error that names each row that failed, and why; its cause is the first failure. An empty table fails.
 *
 * @example
 * test('every route needs a key', () => checkRows(rows, async row => expect(await statusWithoutKey(row)).toBe(401)))
 */
export async function checkRows<Row>(
  rows: readonly NamedRow<Row>[],
  check: (row: Row, name: string) => unknown,
  atOnce = 1,
): Promise<void> {
  if (rows.length === 0) throw new Error('The table has no rows, so nothing was checked.')
  const failed: (readonly [name: string, error: Error])[] = []
  const left = rows.values()
  const checkNext = async (): Promise<void> => {
    for (const [name, row] of left) {
      try {
        await check(row, name)
      } catch (error) {
        failed.push([name, error instanceof Error ? error : new Error(String(error))])
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, checkNext))
  if (failed.length === 0) return
  const reasons = failed.map(([name, { message }]) => `${name}: ${message}`)
  throw new Error([`${failed.length} of ${rows.length} rows failed.`, ...reasons].join('\n'), { cause: failed[0]?.[1] })
}
