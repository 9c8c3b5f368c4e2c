import { describeStorage } from '@signalbox/testing/storage'
import { inject } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { usualShare } from './other-runtimes/expect-conformance.ts'
import { useSchema } from './postgres-schema.ts'

const describePostgres = describeWith('postgres')

describePostgres('PostgreSQL', () => {
  const { open, empty } = useSchema()
  describeStorage(
    'postgresql',
    async () => {
      await empty()
      const storage = open()
      return {
        storage,
        async reopen() {
          await storage.close()
          return open()
        },
      }
    },
    { share: inject('isLongRun') ? 1 : usualShare, lacks: ['spool'] },
  )
})
