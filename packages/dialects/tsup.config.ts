import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: {
    index: 'src/index.ts',
    'protocol/index': 'src/protocol/index.ts',
    'errors/index': 'src/errors/index.ts',
    'sse/index': 'src/sse/index.ts',
    'common/index': 'src/common/index.ts',
    'clients/index': 'src/clients/index.ts',
    providers: 'src/providers.ts',
  },
})
