import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: {
    'access/index': 'src/access/index.ts',
    'metering/index': 'src/metering/index.ts',
    'request/index': 'src/request/index.ts',
    'request/compaction/index': 'src/request/compaction/index.ts',
    'request/dry-run/index': 'src/request/dry-run/index.ts',
    'resources/index': 'src/resources/index.ts',
    'routing/index': 'src/routing/index.ts',
    'runtime/index': 'src/runtime/index.ts',
    'upstream/index': 'src/upstream/index.ts',
  },
})
