import type { Storage } from '@signalbox/storage'
import type { Clock } from '../../runtime/ports.ts'
import { defaultStoredItems, type KeptItems, keepItemsInMemory, type StoredItemOptions } from './kept-items.ts'
import { keepItemsInStorage, type StoredItemPorts } from './stored-items.ts'

interface ItemSettings {
  readonly storedItems?: StoredItemOptions | false
  readonly storage: Pick<Storage, 'items'>
}

/** Creates the item store configured by the gateway options. Undefined if no items are kept. */
export function openItems(
  { storedItems, storage }: ItemSettings,
  ports: Omit<StoredItemPorts, 'store' | 'clock'> & { readonly clock: Clock },
): KeptItems | undefined {
  if (storedItems === false) return undefined
  const options = { ...defaultStoredItems, ...storedItems }
  return options.store && storage.items
    ? keepItemsInStorage(options, { ...ports, store: storage.items })
    : keepItemsInMemory({ ...options, clock: ports.clock })
}
