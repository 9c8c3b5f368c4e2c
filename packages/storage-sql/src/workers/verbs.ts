import type { RoutingStore, Storage } from '@signalbox/storage'

type Verb<Store> = { [Name in keyof Store]-?: NonNullable<Store[Name]> extends (...args: never[]) => unknown ? Name : never }[keyof Store]

/** The methods of the storage itself that can be called. */
export const ownVerbs = { ping: 'again', admit: 'again', settle: 'again' } as const satisfies Partial<
  Record<keyof Storage, 'once' | 'again'>
>

/** The stores of the object. */
export type RemoteStores = Pick<Storage, 'records' | 'audit' | 'counters' | 'ledger' | 'usage'> & {
  readonly items: NonNullable<Storage['items']>
  readonly routing: RoutingStore
}

/**
 * The verbs that can be called from outside the object. A call whose connection breaks is made once `again`, which does nothing the
 * second time or at worst counts a request twice, or only `once`, where a second time would be another change.
 */
export const verbs: { readonly [Store in keyof RemoteStores]: Readonly<Record<Verb<RemoteStores[Store]>, 'once' | 'again'>> } = {
  records: { commit: 'once', find: 'again', findByName: 'again', list: 'again', touch: 'again', expire: 'again' },
  audit: { last: 'again', list: 'again', chain: 'again' },
  counters: { take: 'again', add: 'once', enter: 'again', leave: 'again' },
  ledger: {
    reserve: 'again',
    renew: 'again',
    extend: 'once',
    holds: 'again',
    settle: 'again',
    credit: 'again',
    balance: 'again',
    entries: 'again',
    accounts: 'again',
    forget: 'again',
  },
  usage: { append: 'again', find: 'again', totals: 'again', list: 'again', count: 'again', forget: 'again' },
  items: { put: 'once', find: 'again', renew: 'again' },
  routing: { publish: 'again', pause: 'again', news: 'again', remember: 'again', readers: 'again' },
}
