/** A page of a list. */
export interface Page {
  readonly data: readonly unknown[]
  /** Sent as `after` for the next page; null on the last one. */
  readonly next: string | null
}

/**
 * A list: awaited, its first page; iterated, all entries of all pages, each page loaded when it is reached.
 *
 * @example
 * for await (const key of client.apiKeys.list({ limit: 100 })) console.log(key.name)
 */
export type PagedList<P extends Page> = Promise<P> & AsyncIterable<P['data'][number]>

/** Adds the entries of all pages to the promise of the first. */
export const asPagedList = <P extends Page>(first: Promise<P>, load: (after: string) => Promise<P>): PagedList<P> =>
  Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page = await first; ; page = await load(page.next)) {
        yield* page.data
        if (page.next === null) return
      }
    },
  })
