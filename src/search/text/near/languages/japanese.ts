/** Common words of tools in Japanese, written for this project. Format: `translations.ts`. */
export const JAPANESE = `
delete=削除,消去,消して,消す remove=取り除,除去,外し,削除,取り消
create=作成,作って,作る,作り,新規,生成 add=追加,加え,足し list=一覧,リスト,列挙
show=表示,見せ,見る,見て get=取得,入手,得る find=見つけ,探し,探す search=検索,調べ,探し,探す
send=送信,送っ,送る,送付 post=投稿,掲載 reply=返信,返答,回答 answer=回答,答え
open=開い,開く,オープン close=閉じ,クローズ update=更新,アップデート change=変更,変え edit=編集
move=移動,移し copy=コピー,複製 rename=名前を変更,改名,リネーム upload=アップロード
download=ダウンロード share=共有,シェア read=読み,読む,読ん write=書き,書く,書い,記入,執筆
start=開始,起動,始め stop=停止,止め run=実行,走ら check=確認,チェック,検査 set=設定,セット,にする
enable=有効,オンにし disable=無効,オフにし book=予約,本 cancel=キャンセル,取り消し
schedule=予定,スケジュール translate=翻訳 summarize=要約,まとめ summary=要約 convert=変換
calculate=計算 compare=比較 buy=購入,買う,買い pay=支払 payment=支払い,決済 play=再生,遊 save=保存
invite=招待 assign=割り当て merge=結合,統合,マージ,ひとつに,一つに connect=接続 subscribe=購読
publish=公開,発行 comment=コメント notify=通知,知らせ count=数え,件数 import=インポート,取り込
export=エクスポート,書き出 analyze=分析,解析 generate=生成 test=テスト restore=復元,元に戻
select=選択,選ん,選ぶ click=クリック record=記録,録音,録画,レコード reset=リセット approve=承認
file=ファイル folder=フォルダ,フォルダー directory=ディレクトリ message=メッセージ mail=メール
email=メール calendar=カレンダー event=イベント,予定 meeting=会議,ミーティング
task=タスク,課題,作業,やること ticket=チケット issue=課題,問題,イシュー bug=バグ,不具合
error=エラー,誤り user=ユーザー,ユーザ,利用者 account=アカウント,口座 password=パスワード
customer=顧客,お客 order=注文 invoice=請求書 price=価格,値段 product=製品,商品 weather=天気,気象
forecast=予報 rain=雨 news=ニュース map=地図 card=カード city=都市,街,市 route=経路,ルート
directions=道順,経路,行き方 place=場所 flight=フライト,航空便 image=画像,写真,イメージ
video=動画,ビデオ song=曲,歌 music=音楽 playlist=プレイリスト page=ページ
website=サイト,ウェブサイト document=文書,ドキュメント,書類 note=メモ,ノート,議事録
table=テーブル,表 column=列,カラム row=行 cell=セル database=データベース data=データ
query=クエリ,問い合わせ report=レポート,報告 project=プロジェクト group=グループ
channel=チャンネル contact=連絡先,コンタクト label=ラベル tag=タグ branch=ブランチ
repository=リポジトリ code=コード commit=コミット pull=プル request=リクエスト,依頼 log=ログ
status=状態,ステータス deploy=デプロイ,配備 time=時間,時刻 date=日付 week=週 month=月 year=年
day=日 today=今日 tomorrow=明日 language=言語 word=単語 question=質問 address=住所,アドレス
phone=電話 call=電話,呼び出し number=番号 key=キー,鍵 attachment=添付 reminder=リマインダー
draft=下書き trash=ゴミ箱 settings=設定 permission=権限,許可 access=アクセス environment=環境
variable=変数 traffic=交通,トラフィック window=ウィンドウ button=ボタン form=フォーム
field=フィールド,項目 paper=論文 article=記事 author=著者 movie=映画 recipe=レシピ stock=株,在庫
exchange=為替 rate=レート currency=通貨 balance=残高 distance=距離 coordinates=座標
new=新しい,新規 latest=最新 version=バージョン member=メンバー employee=社員,従業員
company=会社,企業 internet=インターネット,ネット web=ウェブ sheet=シート country=国
title=タイトル,題名 description=説明 content=内容,コンテンツ game=ゲーム,試合 statistics=統計
transcript=文字起こし,書き起こし,字幕 conversation=会話,スレッド team=チーム view=閲覧,表示
server=サーバー link=リンク port=ポート public=公開 vacation=休暇,不在 priority=優先
urgent=緊急,至急 ship=発送,出荷 crash=クラッシュ,落ち domain=ドメイン popular=人気,話題
productivity=生産性 epic=エピック insert=挿入 collection=コレクション mention=メンション,言及
fill=記入 driving=車 trending=話題,人気 weekend=週末 viewer=視聴者
`;
