import { describeCatalogue } from './catalogue.ts'

describeCatalogue(['messages', 'gemini', 'bedrock'], ({ needs, hangs }) => needs === undefined && !hangs)
