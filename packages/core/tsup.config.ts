import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: {
    index: 'src/index.ts',
    'protocol/index': 'src/protocol/index.ts',
    'dialects/index': 'src/dialects/index.ts',
    'providers/index': 'src/providers/index.ts',
    'errors/index': 'src/errors/index.ts',
    'runtime/index': 'src/runtime/index.ts',
    'management/index': 'src/management/index.ts',
    'resources/index': 'src/resources/index.ts',
    'request/index': 'src/request/index.ts',
    'in-process/index': 'src/in-process/index.ts',
    'sse/index': 'src/sse/index.ts',
  },
})
