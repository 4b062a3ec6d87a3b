/** Common words of tools in Portuguese, written for this project. Format: `translations.ts`. */
export const PORTUGUESE = `
delete=exclu-,apag-,elimin-,delet- remove=remov-,retir- create=cria,criar,crie,criacao
add=adicion-,acrescent- list=lista,listar,liste show=mostr-,exib-,ver
get=obten-,obter,pegar,pegue,busque find=encontr-,acha,achar,ache
search=busca,buscar,busque,pesquis-,procur- send=envia,enviar,envie,manda,mandar,mande
post=publica,publicar,publique,postar reply=respond-,respost- answer=respond-,respost-
open=abre,abrir,abra,abert- close=fecha,fechar,feche,encerr- update=atualiz-
change=muda,mudar,mude,alter- edit=edita,editar,edite move=mova,mover,move copy=copia,copiar,copie
rename=renome- upload=carreg-,envio download=baixa,baixar,baixe,descarreg-
share=compartilh-,partilh- read=leia,ler,leitura write=escrev-,redig- start=inici-,comec-
stop=para,parar,pare,interromp- run=execut-,roda,rodar,rode check=verific-,confir-,confer-
set=defin-,configur- enable=ativ-,habilit- disable=desativ-,desabilit- book=reserv-,livro,livros
cancel=cancel- schedule=agend-,programar translate=traduz-,traduc- summarize=resumir,resuma
summary=resumo- convert=convert- calculate=calcul- compare=compar- buy=compra-,compre
pay=paga,pagar,pague payment=pagamento- play=toca,tocar,toque,reproduz-,joga,jogar
save=salv-,guard- invite=convid- assign=atribu- merge=mescl-,fundir,junte connect=conect-
subscribe=assin-,inscrev- publish=publica,publicar,publique comment=comentari-,comenta-
notify=notific-,avisa-,avise count=conta,contar,quantos,quantas import=importa- export=exporta-
analyze=analis- generate=gera,gerar,gere test=testa,testar,teste restore=restaur-,recuper-
select=selecion-,escolh- click=clic- record=registr- reset=redefin- approve=aprov-
file=arquivo-,ficheiro- folder=pasta,pastas,diretorio- directory=diretorio- message=mensag-
mail=correio email=emails calendar=calendario-,agenda event=evento-,compromisso-
meeting=reuniao,reunioes task=tarefa- ticket=chamado-,bilhete- issue=problema-,chamado- bug=falha-
error=erro,erros user=usuari-,utilizador- account=conta,contas password=senha- customer=cliente-
order=pedido-,encomend- invoice=fatura- price=preco- product=produto-
weather=clima,tempo,meteorolog- forecast=previsao,previsoes rain=chuva,chov- news=noticia-
map=mapa,mapas card=cartao,cartoes city=cidade- route=rota,rotas directions=rota,trajeto-
place=lugar,lugares,local,locais flight=voo,voos image=imagem,imagens,foto,fotos
song=musica,musicas,cancao,cancoes music=musica- page=pagina- website=site,sites
document=documento- note=nota,notas,anotac- table=tabela- column=coluna- row=linha,linhas
cell=celula- database=dados data=dado,dados query=consult- report=relatorio- project=projeto-
group=grupo- channel=canal,canais contact=contato-,contacto- label=etiquet-,rotulo-
branch=ramo,ramos repository=repositori- log=registro-,registo- status=estado,situacao
deploy=implant- time=hora,horas,tempo date=data,datas week=semana- month=mes,meses year=ano,anos
day=dia,dias today=hoje tomorrow=amanha language=idioma-,lingua word=palavra- question=pergunta-
address=endereco-,morada- phone=telefone- number=numero- key=chave- attachment=anexo-
reminder=lembr- draft=rascunho- trash=lixeira,lixo settings=configurac-,ajuste-
permission=permiss- access=acesso- environment=ambiente- variable=variave- traffic=trafego
window=janela- button=botao,botoes form=formulario- field=campo,campos paper=artigo-
article=artigo- author=autor,autora,autores movie=filme,filmes recipe=receita-
stock=acao,acoes,bolsa exchange=cambio rate=taxa,taxas currency=moeda- balance=saldo-
distance=distancia- coordinates=coordenada- new=novo,nova,novos,novas latest=ultimo-,ultima-
version=versao,versoes member=membro- employee=funcionari- company=empresa- internet=rede web=rede
sheet=planilha-,folha country=pais,paises title=titulo- description=descricao content=conteudo-
game=jogo,jogos statistics=estatistic- transcript=transcri- conversation=conversa-
request=solicit- team=equipe-,equipa video=videos view=vista,visualiz- execute=execut-
insert=inser- collection=colecao,colecoes mention=mencion- urgent=urgente-
priority=priorid-,urgente- call=liga,ligar,ligue,chamada- trending=tendencia- fill=preench-
driving=carro,carros vacation=ferias crash=travou,travar viewer=espectador- link=links
`;
