import type { Storage } from '@signalbox/storage'
import type { Clock } from '../../runtime/ports.ts'
import { defaultItems, type ItemOptions, type KeptItems, keepItemsInMemory } from './kept-items.ts'
import { keepItemsInStorage, type StoredItemPorts } from './stored-items.ts'

interface ItemSettings {
  readonly items?: ItemOptions | false
  readonly storage: Pick<Storage, 'items'>
}

/** Creates the item store configured by the gateway options. Undefined if no items are kept. */
export function openItems(
  { items, storage }: ItemSettings,
  ports: Omit<StoredItemPorts, 'store' | 'clock'> & { readonly clock: Clock },
): KeptItems | undefined {
  if (items === false) return undefined
  const options = { ...defaultItems, ...items }
  return options.store && storage.items
    ? keepItemsInStorage(options, { ...ports, store: storage.items })
    : keepItemsInMemory({ ...options, clock: ports.clock })
}
