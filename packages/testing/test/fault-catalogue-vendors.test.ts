import { describeCatalogue } from './catalogue.ts'

describeCatalogue(['gemini', 'bedrock'], ({ needs, hangs }) => needs === undefined && !hangs)
